/** `SessionFixation`: a request that sets another's session, by an argument or by a script that sets a cookie. */
import { packed, type Signature } from './signature.ts';

/** Names that frameworks give their sessions. */
const frameworkNames =
	'phpsess(?:id|ion)?|jsessionid|jservsession|jwsession|aspsessionid[a-z]{0,12}|asp\\.net_sessionid|(?:__(?:host|secure)-)?(?:next-auth|authjs)\\.session-token|connect\\.sid|koa[.:]sess|play_session|zend_session_id|cfid|cftoken|cfsid|cakephp|laravel_session|ci_session|_?symfony|sf_session|rack\\.session|_[a-z_]{2,30}_session|weblogicsession|siteserver_sid|meteor_login_token|express\\.sid|sails\\.sid|hapi_session|django_session|beaker\\.session\\.id|sessionid|viewstate_session|plack_session|mojolicious|dancer\\.session|flask_session|wordpress_logged_in\\w{0,40}|fe_typo_user|joomla_session|drupal_session|frontend_cid|osclass_sid|oscsid|xfsession|bbsessionhash';

export const sessionFixation: readonly Signature[] = packed(
	/\.cookie\b[^\n]{0,60};(?:expires|domain|path|max-age)[=\n]|\bhttp-equiv=['"]?set-cookie|document\.cookie=/,
);

/** An argument with such a name comes from a page that knows the server, or from an attacker. */
export const frameworkSession = new RegExp(`(?:^|&)(?:${frameworkNames})(?:=[^&]|\\[|%5b)`, 'i');

/** What others call a session: an argument like it means one only where another site's page sends it. */
export const sessionArgument =
	/(?:^|&)(?:s(?:ess(?:ion)?)?[-_.]?(?:id|key|token|hash)|sid|(?:user|auth|app|web|my)[-_]?session(?:[-_]?(?:id|token|key))?|session)=[^&]/i;
