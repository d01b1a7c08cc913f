/** `SQLi`: values that end their string and continue as SQL, names that only databases have, and operators of document databases. */
import { callOf, plain, type Signature, uncommented } from './signature.ts';
import { sqlInjection } from './sql-injection.ts';
import { distinctiveSqlFunctions, wordSqlFunctions } from './sql-tokens.ts';

const documentOperators =
	'eq|ne|n?in|[gl]te?|regex|options|exists|where|not|x?or|nor|and|all|size|type|mod|slice|elemmatch|expr|jsonschema|text|search|comment|function|accumulator|lookup|near|geowithin|bitsallset|rand';

export const queryInjection: readonly Signature[] = [
	...uncommented(
		sqlInjection,
		callOf(distinctiveSqlFunctions, 'calls of SQL functions', wordSqlFunctions),
		// Tables, procedures and statements that databases have and texts do not mention.
		/\b(?:information_schema|sys(?:objects|columns|users|databases|logins|processes|ibm)|all_tables|all_users|user_tables|user_tab_columns|dba_users|v\$version|msys(?:accessobjects|aces|objects|queries|relationships)|sqlite_(?:master|schema|temp_master|sequence)|pg_(?:catalog|shadow|user|tables|class|authid|roles|database|settings|stat_activity)|mysql\.(?:user|db|host|proc|innodb_table_stats)|sys\.(?:tables|objects|user|databases|columns|schemas|sql_logins|fn_\w{2,20})|tempdb|msdb|master\.{1,2}(?:sys|xp_|dbo)|performance_schema)\b/,
		/(?<![\w-])(?:xp|sp)_(?:cmdshell|executesql|oa(?:create|method|destroy|stop|[gs]etproperty|geterrorinfo)|reg(?:read|write|delete|enum|add|remove)\w{0,16}|dirtree|makewebtask|password|who2?|add(?:extendedproc|login|srvrolemember|role|user|linkedserver)\w{0,10}|drop(?:extendedproc|login)|configure|help\w{0,16}|fileexist|subdirs|enum\w{2,16}|loginconfig|ntsec\w{0,14}|servicecontrol|terminate\w{0,12}|availablemedia|fixeddrives|logevent|sprintf|sscanf|getfiledetails|msver|execute_external_script|columns|tables|databases|(?:add|start|delete|update)_job\w{0,8}|spaceused|detach_db|grantdbaccess|prepexec|send_dbmail|delete_file)\b|\bwaitfor (?:delay|time)\b|\binto (?:out|dump)file\b|\bload data\b[^\n]{0,40}\binfile\b|\bprocedure analyse\b|\bautonomous_transaction\b|\bdbms_[a-z]{2,20}\.|\butl_(?:http|inaddr|file|smtp|tcp)\b|\bctxsys\./,
		/@@(?:version|servername|hostname|datadir|basedir|global|language|spid|identity|tmpdir|secure_file_priv|user)|\bexec(?:ute)?(?: immediate)? ?\(? ?(?:xp_|sp_|master|@)/,
		/union ?(?:all|distinct)? ?[(/\\*!'"`+-]{0,6} ?select(?!or|ed|ion|ing|ive|\.| [a-z]{2,20} ?(?:$|\n))|\bif\(\d{1,10} ?[=<>]|\bpg_(?:sleep|read_file|ls_dir|read_binary_file|stat_file)\b|\bselect[*/ ]{1,6}[^\n]{0,40}(?:user|version|database|schema)\(/,
		/(?:^|[\n;/'")]) ?create (?:table|procedure|trigger) \w{1,40} ?(?:$|\n|\()|(?:^|\n|['"]) ?xor [\w'"]{1,20} ?[<>=!]|\b2\.22507385850720(?:07|11)e-30[78]/,
		/(?:'|"|\b[a-z_]{2,40}|\))::(?:jsonb?|int[248]?|integer|bool|boolean|text|numeric|bytea|regclass|varchar)\b/,
		/['"] ?(?:@>|<@|->>?|#>>?|#-|@\?|@@|\?[|&]|\? ?') ?['"\d\w]/,
		/['"} ] ?[<>=] ?'\$[.[]/,
		/\b(?:chr|char|nchar) ?\( ?(?:\d{1,3}|0x[0-9a-f]{1,6}) ?\)(?: ?(?:\|\||\+|,)| ?$)/,
		/\{ ?(?:if|fn|oj) [a-z]{2,20}\(/,
		// A number in scientific notation without digits can be followed directly by a name.
		/\b\d{1,10}\.e[(. ]?[a-z(.]/,
	),
	...plain(
		/\/\*[!+]|\*\/ ?(?:union|select|and|or|from|where)\b/,
		new RegExp(`\\[ ?['"]?\\$(?:${documentOperators})\\b`),
		new RegExp(`[{,] ?['"]?\\$(?:${documentOperators})['"]? ?:`),
		/(?:^|\n)\$(?:ne|gte?|lte?|n?in|regex|where|nor|exists|expr)(?:$|\n)/,
		/\bdb\.[a-z_]\w{0,40}\.(?:drop\w{0,10}|remove|delete(?:one|many)|insert(?:one|many)?|update(?:one|many)?|renamecollection) ?\(/,
		/['"] ?(?:\|\||&&|;) ?(?:this\.|return\b|sleep ?\(|db\.|var |while ?\()/,
	),
];
