/**
 * `HeaderInjection`, `LDAPInjection`, `XPathInjection`: values that break out of their place in a protocol or a query. `SessionFixation`:
 * requests that set another client's session, by an argument or by a script that sets a cookie.
 */
import { framed, packed, plain, raw, type Signature } from './signature.ts';

/** Fields that begin lines of responses, requests and mails, but not of texts. */
const fieldNames =
	'set-cookie|location|refresh|content-(?:type|length|disposition|encoding|location|security-policy|transfer-encoding)|transfer-encoding|mime-version|host|connection|cache-control|access-control-[a-z-]{3,30}|x-[a-z-]{2,30}|link|expires|pragma|authorization|cookie|user-agent|referer|origin|via|server|status|etag|vary|www-authenticate|strict-transport-security|b?cc|reply-to|return-path|remote-[a-z]{2,10}|accept(?:-[a-z]{2,12})?|forwarded|upgrade|last-modified|warning|age|allow|date|proxy-[a-z-]{3,20}|sec-[a-z-]{3,20}|retry-after|keep-alive|trailer|te|if-[a-z-]{3,20}|range';

export const headerInjection: readonly Signature[] = [
	...framed(
		new RegExp(`\\r[\\r ]{0,4}(?:${fieldNames}) ?:`),
		/\r[\r ]{0,4}(?:http\/\d|(?:get|post|put|head|delete|options|patch|connect) [^\r\n]{1,200} http\/\d|(?:mail from|rcpt to|helo|ehlo|data\r|\.\r|starttls|auth login)\b)/,
		// Mail protocols: a command with its number or name.
		/\r[\r ]{0,4}(?:(?:retr|dele|uidl|list|top) \d|apop \w+ [0-9a-f]{16}|(?:vrfy|expn|user|pass) [^ \r\n]{1,60}(?:\r|\n|$)|(?:quit|noop|rset|stat|capa|stls)(?:\r|\n|$)|[a-z]{1,4}\d{1,6} (?:login|select|examine|fetch|store|copy|logout|create|append|authenticate|lsub|status) ?["'\w(\r])/,
		/\r\r[^\n\r]{0,40}<(?:html|script|body|!doctype)/,
	),
	...plain(
		// A request line in quotes belongs to a log.
		/(?<!")\b(?:get|post|head|put|delete|options|patch|connect|trace|propfind) (?:https?:\/\/|\/)?[^ \n]{0,300} http\/\d/,
		/\bhttp\/[01]\.\d \d{3} [a-z]/,
	),
	// Names of arguments have no line ends.
	...raw(/(?:^|&)[^&=%]{0,64}%(?:25)?0[ad]/i),
	...packed(/(?:^|\n)\$version\n/),
];

/** Line ends in a path only; no path of the gateway has one. */
export const brokenPath: readonly Signature[] = framed(/\r/);

/** Tells whether the line is a complete filter, which breaks out of none. */
function isWholeFilter(line: string): boolean {
	if (!/^\([&|!]?\(?[a-z]/.test(line)) return false;
	let depth = 0;
	for (let at = 0; at < line.length; at++) {
		if (line[at] === '(') depth++;
		else if (line[at] === ')' && --depth === 0) return at === line.length - 1;
	}
	return false;
}

/** Complete XPath expression with its texts in quotes. */
const wholePath = /^\.?\/{1,2}[\w*@](?:[^\n|;'"]|'[^'"\n]{0,80}'|"[^'"\n]{0,80}"){0,200}$/;

/** Functions that access other documents, the system or its settings, probes of unknown structure, and conditions that are always true. */
const reachingPath =
	/\b(?:doc|document|doc-available|collection|unparsed-text\w{0,10}|system-property|environment-variable|available-environment-variables|evaluate|transform)\(|\w:[\w-]{1,40}\(|\]\)?(?:or|and)\b|\](?:or|and)[(/@'"\w]|(?:^|[\])'"\w])(?:or|and)?true\(\)|\[(?:not\(|boolean\(){0,3}(?:true\(|false\(|\d{1,4}[)<>=!]|['"][^'"\n]{0,20}['"][<>=!])|\[[^\]\n]{0,60}[([,=]\/{1,2}[\w*]|descendant(?:-or-self)?::\*\[\d|or\.\]|['")\]](?:or|and)(?:not\(|\d|['"])|count\((?:child::)?(?:node\(\)|\*)|string-length\([\w@./]{0,30}\)[=<>]|substring\([\w@./]{0,30},\d|\/\*\[\d{1,4}\]\/\*\[/;

function isWholePath(line: string): boolean {
	return (
		wholePath.test(line) &&
		!reachingPath.test(line) &&
		line.split('[').length === line.split(']').length &&
		line.split('(').length === line.split(')').length
	);
}

const unless = (isWhole: (line: string) => boolean, signatures: readonly Signature[]): readonly Signature[] =>
	signatures.map((signature) => {
		const { pattern } = signature;
		const rest = (text: string): string =>
			text
				.split('\n')
				.filter((line) => !isWhole(line))
				.join('\n');
		return { ...signature, pattern: { source: pattern.source, test: (text) => pattern.test(text) && pattern.test(rest(text)) } };
	});

export const ldapInjection: readonly Signature[] = unless(
	isWholeFilter,
	packed(
		// One filter ends and another begins: by an attribute and its comparison, or by an operator.
		/[)*]\(+(?:[|&!]\(*){0,4}[a-z0-9][\w.;-]{0,40}(?:~|<|>|:[\w.]{0,40}:?)?=/,
		/\)\([|&!](?:$|[\n()])|\)\(\([|&!]?[a-z]{1,20}=|\)\([|&!]\(/,
		/\*\)\(|\(\|\(\w{1,30}=|\(&\(\w{1,30}=[^\n]{0,60}\)\(/,
		/\)!\(\w{1,30}=/,
	),
);

const axes = '(?:ancestor|child|descendant|following|parent|preceding|self|attribute|namespace)(?:-or-self|-sibling)?::[\\w*@]';

export const xpathInjection: readonly Signature[] = unless(
	isWholePath,
	packed(
		new RegExp(axes),
		/(?:\b|['")\]](?:and|or))(?:count|name|local-name|string-length|namespace-uri|substring|contains|starts-with|string|translate|normalize-space)\((?:\/|\.\.?\/|name\(|local-name\(|\*|@\w|parent::|\.,)/,
		/['"\])]\|{1,2}\/\/?[\w*]|\/\/[\w*]{1,30}\[[^\]\n]{1,60}|\/\*\[(?:\d|position|name|contains)/,
		/\b(?:position|last|text|node|comment)\(\)(?:=|<|>|\]|\/)/,
		/['")\]]or(?:true|boolean)\(/,
		/(?:\b|['")\]](?:and|or))doc(?:-available)?\(['"]?(?:https?|file):/,
	),
);

/** Default names of sessions in frameworks. */
const frameworkNames =
	'phpsess(?:id|ion)?|jsessionid|jservsession|jwsession|aspsessionid[a-z]{0,12}|asp\\.net_sessionid|(?:__(?:host|secure)-)?(?:next-auth|authjs)\\.session-token|connect\\.sid|koa[.:]sess|play_session|zend_session_id|cfid|cftoken|cfsid|cakephp|laravel_session|ci_session|_?symfony|sf_session|rack\\.session|_[a-z_]{2,30}_session|weblogicsession|siteserver_sid|meteor_login_token|express\\.sid|sails\\.sid|hapi_session|django_session|beaker\\.session\\.id|sessionid|viewstate_session|plack_session|mojolicious|dancer\\.session|flask_session|wordpress_logged_in\\w{0,40}|fe_typo_user|joomla_session|drupal_session|frontend_cid|osclass_sid|oscsid|xfsession|bbsessionhash';

export const sessionFixation: readonly Signature[] = packed(
	/\.cookie\b[^\n]{0,60};(?:expires|domain|path|max-age)[=\n]|\bhttp-equiv=['"]?set-cookie|document\.cookie=/,
);

/** Argument with such a name, which only a page of the server or an attacker sends. */
export const frameworkSession = new RegExp(`(?:^|&)(?:${frameworkNames})(?:=[^&]|\\[|%5b)`, 'i');

/** Other common names of sessions; such an argument means a session only when another site's page sends it. */
export const sessionArgument =
	/(?:^|&)(?:s(?:ess(?:ion)?)?[-_.]?(?:id|key|token|hash)|sid|(?:user|auth|app|web|my)[-_]?session(?:[-_]?(?:id|token|key))?|session)=[^&]/i;
