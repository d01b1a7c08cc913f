/** Signatures of server-side code: `PHPHighRiskMethodsVariables`, `JavaDeserializationRCE`, `Log4JRCE`, `GenericCodeInjection`. */
import phpFunctionNames from './php-functions.json' with { type: 'json' };
import { anyOf, callOf, packed, plain, raw, type Signature, type TextTest, uncommented, wordsOf } from './signature.ts';

/** Functions of PHP that access the system, files, memory or other code, and are not natural words. */
const phpFunctions = wordsOf(phpFunctionNames.reachingFunctions);

/**
 * Functions that compute, or exist in other languages: they match if a PHP variable, a system file or another such call is between their
 * brackets.
 */
const phpCommonFunctions = wordsOf(phpFunctionNames.commonFunctions);

/**
 * Functions whose names are words. They access files, code or the system, so a text, a variable or another call between their brackets is
 * enough.
 */
const phpWordFunctions =
	'assert|chr|compact|copy|dl|ereg|eregi?_replace|eval|exec|extract|file|glob|header|link|mail|pack|rename|sleep|stat|system|touch|virtual';
const phpHarmlessWords =
	'array|constant|crypt|define|die|dir|each|echo|empty|end|exit|explode|implode|include|join|key|md5|ord|print|rand|range|require|reset|rewind|round|sha1|sort|split|trim';
/** Arguments that make a call dangerous, of functions that are harmless alone. */
const phpArgument =
	'[^\\n)]{0,40}(?:\\$(?:_[a-z]|globals|[a-z]\\w{0,20} ?[[({])|\\b(?:md5|sha1|chr|base64_decode|phpversion|phpinfo|getenv|system|`) ?\\(|[\'"] ?(?:\\/|\\.\\./\\.\\.|https?:|ftp:|data:|php:))';

const phpSettings =
	'allow_webdav_methods|arg_separator\\.(?:in|out)put|asp_tags|auto_detect_line_endings|auto_globals_jit|detect_unicode|display_(?:startup_)?errors|docref_(?:ext|root)|enable_dl|enable_post_data_reading|gpc_order|hard_timeout|html_errors|ignore_repeated_(?:errors|source)|ignore_user_abort|implicit_flush|magic_quotes_\\w{3,10}|max_file_uploads|max_multipart_body_parts|register_(?:globals|long_arrays)|report_memleaks|report_zend_debug|sql\\.safe_mode|xbithack|allow_url_fopen|allow_url_include|auto_append_file|auto_prepend_file|disable_functions|disable_classes|extension_dir|memory_limit|open_basedir|output_handler|safe_mode|short_open_tag|upload_tmp_dir|user_ini|zend_extension|default_socket_timeout|file_uploads|max_execution_time|default_charset|doc_root|error_log|error_prepend_string|error_append_string|expose_php|include_path|input_encoding|log_errors|mail\\.(?:log|add_x_header|force_extra_parameters)|max_input_(?:time|vars|nesting_level)|post_max_size|precision|realpath_cache_(?:size|ttl)|register_argc_argv|request_order|sendmail_(?:from|path)|serialize_precision|sys_temp_dir|track_errors|unserialize_(?:callback_func|max_depth)|upload_max_filesize|url_rewriter\\.tags|user_agent|user_dir|variables_order|xmlrpc_errors?|highlight\\.(?:string|comment|keyword|default|html)|(?:apc|assert|bcmath|browscap|cgi|cli_server|com|curl|date|dba|exif|fastcgi|fpm|gd|iconv|ibase|imap|intl|ldap|mbstring|mcrypt|memcached?|mssql|mysqli?|mysqlnd|oci8|odbc|opcache|openssl|pcre|pdo_\\w{2,10}|pgsql|phar|phpdbg|session|soap|sqlite3?|suhosin|swoole|sysvshm|tidy|uploadprogress|uopz|windows|xdebug|yaml|zend|zlib)\\.(?:\\w{1,30}_\\w{1,40}|save_path|name|lazy_write|compression|charset|encoding|timezone|prefix|preload|enable)';

const callsCommonFunction = callOf(phpCommonFunctions, 'calls of common functions');
const ofPhp =
	/\$(?:_[a-z]|globals|[a-z]\w{0,20} ?[[({])|\( ?['"](?:\/|\.\.\/\.\.|php:|data:|https?:|ftp:)|\( ?['"](?:system|exec|assert|passthru|eval|phpinfo|shell_exec)\b|[(,[] ?['"]?\\{0,2}(?:system|exec|assert|passthru|eval|phpinfo|shell_exec|popen|proc_open|create_function|file_put_contents|unserialize) ?['"]? ?[,()\]]|['"] ?\. ?['"]|`[^`\n]{1,80}`/;

const phpCommonCall: TextTest = {
	source: 'calls of common functions with what only PHP has',
	anySign: '(',
	test: (text) => text.includes('(') && ofPhp.test(text) && callsCommonFunction.test(text),
};

export const php: readonly Signature[] = [
	...plain(
		/<\?(?: ?php|=| [a-z$]|xml ?:)/,
		/\[[\\/]?php\]|\{[\\/]?php\}/,
		new RegExp(`(?<![\\w.-])(?:${phpSettings}) ?[=\\n]`),
		/(?:(?<![a-z] )\$_(?:get|post|server|cookie|files|request|session|env)\b(?! [a-z]{2,20})|\$_[a-z]{3,8} ?[[{(;,.)=])|\$(?:globals|http_[a-z_]{3,20}vars|argv|php_errormsg)\b/,
		/\$ ?\{ ?(?:['"$@]|\w{1,40} ?[([])/,
		/(?:compress\.(?:zlib|bzip2)|ssh2\.(?:sftp|shell|exec|tunnel|scp)|php|phar|zip|zlib|bzip2|glob|expect|ogg|rar|phpfilter|data):\/\//,
		/\b[oc]:\+?\d{1,9}:"[^"\n]{1,80}":\+?\d{1,9}:\{/,
	),
	...uncommented(
		callOf(phpFunctions, 'calls of PHP functions'),
		phpCommonCall,
		new RegExp(
			`(?<![\\w.])(?:${phpWordFunctions})(?: ?(?:#[^\\n(]{0,40})?\\( ?(?:['"$@]|[a-z_]\\w{1,30} ?\\(|\\/[a-z]{1,20}\\/|https?:)[^\\n]|\\([^\\n)]{0,80}\\) ?(?:;|\\?>|\\.))`,
		),
		new RegExp(`(?<![\\w.])(?:${phpHarmlessWords}) ?(?:#[^\\n(]{0,40})?\\(${phpArgument}`),
		/(?<![\w.])(?:exec|eval|assert|popen) ?(?:#[^\n(]{0,40})?\([^\n)]{1,80}\)/,
		// Executed files, functions named by a call, and constructs that exhaust memory or time.
		/(?<![\w.])(?:include|require)(?:_once)? ?\( ?(?:\$[a-z_]|(?:hex2bin|base64_decode|strrev|chr|urldecode|str_rot13|implode|join) ?\(|['"][^'"\n]{0,80}\.(?:php\d?|inc|txt|log|phtml)['"])|(?<![\w.])include ?\( ?['"][^'"\n]{0,80}\.(?:jpe?g|png|gif)['"]|\( ?(?:include|require)(?:_once)? ?['"$]/,
		/\b(?:array_(?:map|filter|reduce|walk)|u[ak]?sort) ?\([^\n]{0,80}(?:strrev|str_rot13|base64_decode|hex2bin|urldecode|implode|join|chr|sprintf|str_replace|strtr|ucfirst|strtolower|trim|substr) ?\( ?['"]/,
		/(?<![\w.])(?:str_repeat|str_pad|range|array_fill) ?\([^\n)]{0,60}\d{8}|(?<![\w.])usleep ?\( ?\d{7}/,
		/[\w)'"] ?\. ?(?:phpinfo|passthru|shell_exec|proc_open|var_dump|file_get_contents|base64_decode) ?\(/,
		/(?<![\w\])])\([a-z_]{1,20}(?:\.[a-z_]{1,20}){1,5}\) ?\( ?[a-z_'"]|\(\w{1,30}\) \(['"][^'"\n]{1,60}['"]\) ?;|['"] ?\]\[ ?\d{1,3} ?\] ?\( ?['"]|\$\{ ?_(?:get|post|server|cookie|files|request|session|env)\b/,
		// Calls of a computed name.
		/(?<![\w$])\$[\w$]{1,40}(?: ?[[{][^}\n]{1,40}[\]}]){0,4} ?(?:\/\/[^\n(]{0,20})?\([^\n)]{0,80}\)/,
		/['"][\w\\.]{1,40}['"](?:[\])]? ?\( ?['"$]|\)?\((?:\)|\d))|(?<!\w\([^\n()]{0,40})[\])"']\([^)\n]{0,60}\) ?;|\)\(['"][^\n'"]{1,60}['"]\)/,
		/(?<![\w\\:])[a-z_\\][\w\\]{0,60}::\$?\w{1,40} ?\( ?\$|(?<![\w\\:])(?:\w{0,40}\\\w{1,40}|\w{0,20}(?:system|exec|shell|reflection|closure|file|process|phar|pdo)\w{0,20})::\$?\w{1,40} ?\(|\$\w{1,30} ?->\w{0,20}(?:exec|system|query|eval|call|passthru|unserialize|invoke|shell|popen|write|include)\w{0,20} ?\(|\$_\w{1,30} ?->/,
		/\bnew (?:\\{1,2})?(?:spl\w{3,30}|simplexmlelement|reflection\w{3,20}|\w{0,20}directoryiterator|globiterator|soapclient|phar(?:data)?|pdo|mysqli|finfo|domdocument|xsltprocessor|ffi|imagick|arrayobject|closure|ziparchive|sqlite3) ?\(/,
	),
];

/** Names of uploaded files that a server would execute. */
export const runnableFileNames: readonly Signature[] = plain(
	/\. ?(?:php\d{0,3}|phtml|pht|phpt|phar|phps|phpx|jspx?|aspx?|cgi)[ .]{0,20}$/,
	/(?:^|[\\/])sess_[a-z0-9,-]{20,128}$/,
	/(?:config\.(?:php|ya?ml|json|inc)|wp-config|\.htaccess|\.htpasswd|web\.config|\.env)/,
);

/** Packages of the JDK, without exceptions and the names of common examples. */
const exceptionName = '(?!(?:lang\\.(?:exception|error)|(?:[\\w$]{1,40}\\.){0,8}[\\w$]{1,60}(?:exception|error))(?![\\w.$(]))';
const jdkClasses = `\\bjava\\.${exceptionName}(?:lang\\.(?!\\w{0,40}(?:exception|error)\\b)\\w|util\\.(?!(?:list|map|set|date|optional|array(?:list|s)?|hash(?:map|set)|stream|function|collections?|uuid|random|scanner class)\\b)\\w|(?:io|net|nio|rmi|beans|security|sql|text\\.|awt|applet|math\\.|naming|logging)\\b)|\\bjavax?\\.${exceptionName}(?:script|naming|management|el|servlet|imageio|persistence|print|sql|swing|tools|xml|crypto|activation|jms|faces|validation|accessibility|sound|transaction|net|rmi|security|runtime|reflect|io)\\b`;

const javaLibraries = `\\b${exceptionName}(?:com\\.sun\\.[a-z]|sun\\.(?:misc|reflect|rmi|net|security|print|tools|jvmstat)\\b|jdk\\.(?:internal|nashorn|jshell|jfr)|com\\.opensymphony\\.|com\\.mchange\\.|com\\.alibaba\\.|com\\.zaxxer\\.|com\\.caucho\\.|com\\.rometools\\.|com\\.vaadin\\.|com\\.ibm\\.|com\\.oracle\\.|com\\.bea\\.|com\\.thoughtworks\\.|com\\.fasterxml\\.jackson|ch\\.qos\\.|net\\.sf\\.|org\\.omg\\.corba\\b|org\\.(?:apache|springframework|codehaus|hibernate|jboss|yaml|mozilla\\.(?:javascript|classfile)|python\\.core|jython|aspectj|quartz|mortbay|eclipse|objectweb|reflections|w3c\\.dom|xml\\.sax|omg\\.corba|glassfish|postgresql|h2|hsqldb|joda|jruby|beanshell|infinispan|geotools|mvel2?|thymeleaf|freemarker|drools)\\.|weblogic\\.[a-z]|bsh\\.\\w|clojure\\.[a-z]|scala\\.(?:sys|tools|reflect)|groovy\\.[a-z]|ognl\\.[a-z]|freemarker\\.[a-z]|oracle\\.(?:jdbc|jms|ucp)|mx4j\\.|jndi\\.ldap)`;

export const javaDeserialization: readonly Signature[] = [
	...raw(/rO0AB[A-Za-z0-9]|KztAAU|Cs7QAF/),
	...plain(new RegExp(jdkClasses), new RegExp(javaLibraries)),
	...packed(
		/\bjava\.(?:runtime|process)|\bprocessbuilder\b|\bprocessimpl\b|\bruntime\.getruntime\b|\.getruntime\(/,
		/(?:invoker|instantiate|chained|constant|clone|switch|map)transformer\b|(?:while|for)closure|prototype(?:clone|serialization)?factory|(?:instantiate|reflection)factory|lazymap\b|transformedmap|tiedmapentry|templatesimpl|beancomparator|badattributevalue|jdbcrowset|classpathxmlapplicationcontext|scriptenginemanager|urlclassloader|objectinputstream|unmarshall?er\b.{0,20}\(|xmldecoder|xstream\b/,
		// Streams of serialised objects, in base64 at each alignment and in hexadecimal.
		/\bro0abx(?:ny|qa|vy|c)|\bro0abq|aced0005/,
		/class(?:\.|\[['"]?)(?:module(?:\.|['"]?\]\[?['"]?))?classloader\b|#_memberaccess\b|@java\.|%\{[^\n}]{0,40}[#@]|ognlcontext|allowstaticmethodaccess|\(#[a-z_]{1,20}=/,
		/\bgetclass\(\)\.|\.forname\(|\.loadclass\(|\.getdeclaredmethods?|\.getmethod\(|\.newinstance\(|\.getservletcontext\(|\.getclassloader\(|\.setaccessible\(|servletcontext\b|\.invoke\((?:null|['"])/,
		/['"]@(?:type|class|c)['"]:['"][a-z]|!![a-z][\w$]{0,30}(?:\.[\w$]{1,40}){1,8}|<(?:void|object|java)(?:class|method|version)=/,
	),
];

export const log4j: readonly Signature[] = packed(
	/\$\{[^\n]{0,24}(?:jndi|ldaps?|rmi|dns|nis|iiop|corba|nds|https?):/,
	/\$\{(?:[^\n}]{0,20}\$\{)?(?:lower|upper|env|sys|java|date|ctx|main|map|sd|event|marker|bundle|web|spring|jvmrunargs|log4j|k8s|kubernetes|docker|base64|url|script|file|const|[\w:]{0,16}:-|::-)[^\n]{0,2}[:-]/,
	/\$\{[^\n}$]{0,60}\$\{[^\n}$]{0,40}:/,
);

/** Names and short texts between `<%` and `%>`, none of which executes anything. */
const inertScriptlet =
	'(?![^%\\n]{0,80}\\b(?:self|rails|session|class|constructor|inspect|send|public_send|exit|raw|params|instance_\\w{1,20}|delete\\w{0,10}|destroy\\w{0,10}|secrets|credentials|methods|global|mainmodule|if (?:true|1))\\b)[=-]? ?(?:(?!(?:system|exec|eval|open|popen|spawn|fork|send|require|load|import|include|file|io|kernel|process|request|env)\\b)(?:[@:]?[a-z_][\\w.]{0,40}|"[\\w ]{0,30}")(?:, ?| |(?=-?%>))){1,8}-?%>';

/** Harmless expressions in double braces: a name, its parts, filters that are words, or one function with a text. */
const inertExpression =
	/\{\{\{?[-~#!&/>^]? ?(?:[a-z_]{1,20} )?[.@$]?[a-z_][\w-]{0,40}(?:\.[a-z_][\w-]{0,40}){0,5}(?: ?\| ?(?!system|exec|attr|filter|map|sort|reduce|passthru|join|pprint|tojson|e\b)[a-z_]{1,24}(?: ?: ?['"]?[\w /:.-]{1,24}['"]?| \d{1,3})?){0,4} ?-?\}\}|\{\{ ?(?:t|_|__|i18n|trans|translate|gettext|asset|route|href|partial|icon) ?\( ?['"][\w ./:-]{1,60}['"] ?\) ?\}\}/g;
const calculation =
	/\{\{[-~#!&]? ?[^\n{}]{0,80}(?:[*(|]|__|\d ?[-+/%] ?\d|\.(?:constructor|items|env|application|getclass|class|prototype|config|self|mro|request))/;
const ownNames =
	/\{\{\{?[-~#!&/>^]? ?(?:self|_self|config|request|settings|cycler|joiner|namespace|lipsum|url_for|get_flashed_messages|session|g|app|this)\b/;

/** Templates with calculations, calls, filters or members of every object between their brackets. */
const templateCalculation: TextTest = {
	source: calculation.source,
	anySign: '{',
	test: (text) =>
		calculation.test(text) &&
		calculation.test(
			text.replace(inertExpression, (whole) =>
				ownNames.test(whole) || /__|\.(?:constructor|getclass|mro|prototype)\b/.test(whole) ? whole : ' ',
			),
		),
};

export const genericCode: readonly Signature[] = [
	...uncommented(
		// JavaScript on a server.
		/\b(?:process|console|global|globalthis|module|require|reflect|buffer|vm) ?\[ ?['"`a-z]|\b(?:process|globalthis) ?\. ?(?:binding|mainmodule|dlopen|constructor|require|eval|process)\b|\bprocess ?\. ?env\b(?!\.\w)|\b(?:process|globalthis) ?\. ?(?:argv0|execpath|stdout|stderr|stdin|pid|ppid|versions?|platform|report|release|config)(?:$|[\n[)+;]|\.\w{1,40} ?\()|\b(?:process|globalthis) ?\. ?(?:spawn|exit|kill|cwd|chdir|abort|nexttick|umask|getuid|setuid|memoryusage|hrtime|uptime|openstdin)(?: ?(?:\((?!\d?\)(?:[ ;,.]|$|\n))|[[`])|$|\n)/,
		/\bconsole\.(?:log|info|debug|error|warn|trace|dir|table|assert|count|group|time) ?(?:[[`]|\( ?(?!['"`]?[\w ,.:!?-]{0,60}['"`]? ?(?:, ?[\w.]{1,30} ?)?\)))|\bglobal\. ?(?:process|require|constructor|module|eval|console)\b/,
		// Modules that access the system, or any module with an immediate call.
		/\brequire ?(?:\[|\( ?['"`] ?(?:node:)?(?:child_process|fs\/promises|net|vm|os|dns|repl|cluster|module|process|worker_threads|inspector)\b)|\brequire ?\( ?['"`][^\n'"`]{1,80}['"`] ?\)(?:\.\w{1,30} ?[([`]|\[)|\brequire\.(?:main|cache|resolve|extensions)\b|child_process|\bmodule\. ?(?:constructor|require|_load|parent|children)\b|\bimport ?\( ?['"`]|\bnode:(?:child_process|vm|worker_threads|repl|inspector)\b/,
		/\b(?:exec|spawn|fork|execfile)sync\b|\b(?:readdir|readfile|writefile|appendfile|unlink|mkdir|rmdir|exists|stat|createreadstream)sync ?[([`]|\b(?:exec|spawn|execfile|readdir|readfile|writefile|appendfile)(?:sync)?\( ?['"`]|\bcreate(?:read|write)stream\(/,
		/\beval ?\(? ?(?:string|atob|unescape|decodeuri|name|location|function|compile|buffer|request|this)\b|\beval ?\( ?["'`]|\bnew function ?\(|_\$\$nd_func\$\$_|\bfunction\.prototype\b|(?:\bfunction ?\w{0,20} ?\([\w ,]{0,40}\)|\([\w ,]{0,40}\) ?=>) ?\{[^\n}]{0,200}\} ?\)? ?\( ?|\bfunction ?\( ?['"`]/,
		// Letters of a name written as an escape.
		/[a-z]\\u(?:\{0{0,4}[4-7][0-9a-f]\}|00[4-7][0-9a-f])[a-z]|\\u(?:\{0{0,4}[4-7][0-9a-f]\}|00[4-7][0-9a-f])[a-z.]{1,40}[.(`]/,
		anyOf('xyqktkrfrlvoqyqkx', 'd2hpbguodhj1zsk'),
		/\b(?:vm\.)?(?:runin(?:new|this)?context|createcontext|compilefunction) ?\(|\bbuffer\.(?:from|alloc|allocunsafe) ?\( ?['"`\d]|\bnew buffer ?\(|\bstring\.fromcharcode\b|\bobject\.(?:defineproperty|setprototypeof|getownpropertynames) ?\(|\bjson\.parse ?\( ?['"`]/,
		/__proto__|\b__define[gs]etter__|\b__lookup[gs]etter__|\bconstructor['"]? ?(?:\.|\]?\[|:) ?[ {'"]{0,3}(?:prototype|constructor)|\bprototype['"]?\]?\[|\.constructor ?[([.]|\[['"`]constructor['"`]\]/,
		/\bwhile ?\( ?(?:\d|[-+] ?\d|[-+]?infinity|this\b|true\b|new |["'`[{(]|!(?!true\)))|\bfor ?\( ?;[^\n;]{0,20};[^\n)]{0,20}\)/,
		// Python.
		/(?<!\bdef )\b(?:__class__|__mro__|__subclasses__|__globals__|__builtins__|__import__|__init__|__base__|__bases__|__dict__|__getattribute__|__reduce__|__code__|__loader__)\b ?(?:\.(?!py\b)|[([)]|$|\n)|\b__import__|__(?:subclasses|globals|builtins|mro)__/,
		/\bos\.(?:system|popen[234]?|exec[lv]p?e?|spawn[lv]p?e?|remove|unlink|listdir|fork|kill|startfile) ?\(|\bos\.execute ?\(|\bsubprocess\.(?:popen|call|run|check_output|check_call|getoutput|getstatusoutput)(?: ?[([]|$|\n)|\b(?:commands\.getoutput|platform\.popen|pty\.spawn|ctypes\.|importlib\.import_module|builtins\.|sys\.modules|runpy\.) ?[([a-z]|\b(?:pickle|cpickle|marshal|shelve|dill|jsonpickle|yaml)\.(?:unsafe_)?loads? ?\(/,
		/\b(?:exec|eval) ?\( ?(?:compile|open|input|base64|bytes|codecs|chr|requests|urllib|["'`]) ?|(?<![.\w])open ?\( ?['"](?:[./~]|\w{1,10}:)|\bopen ?\( ?['"][^\n'"]{1,80}['"][^\n)]{0,20}\)\.(?:read|write)|\bgetattr ?\( ?(?:__|[a-z_]{1,30} ?\(|["'])|(?<![.\w])compile ?\( ?["']|\b(?:globals|locals|vars) ?\( ?\) ?\[/,
		// Ruby and Perl.
		/\b(?:process|kernel|io|file|dir|open3|pty|open4|socket|tcpsocket|tcpserver|fileutils|erb|marshal|yaml|binding|objectspace|instance_eval|net::http|fiddle|syscall)\.(?:spawn|popen[23]?|open|read(?:lines?)?|exec|system|entries|glob|binread|binwrite|write|unlink|delete|fork|kill|detach|daemon|capture[23]e?|pipeline\w{0,3}|foreach|sysopen|new|load|unsafe_load|send|const_get|eval|get|rm_rf?|mv|cp) ?[(`'"]|\bkernel\.(?:open|fork|exec|system|spawn|syscall|eval|`)|\bprocess\.(?:spawn|fork|daemon|detach)\b/,
		/%[xq]\{[^\n}]{1,80}\}|%x[([<|/!][^\n]{1,80}|@\{ ?\[|\bqx ?[{(/'"|!]|\breadpipe\b|\b(?:system|exec|syscall|eval) ["'][^\n"']{1,80}["']|\bsend\( ?:(?:system|eval|exec|spawn|`)|\binstance_eval\b|\bclass_eval\b|\bconst_get\b/,
		// Objects that a YAML or pickle reader creates.
		/!!?(?:python|ruby|perl|js|java)\/[a-z]|\bc(?:os|posix|nt|__builtin__|builtins|subprocess)(?:\\n|[\r\n ])\s?(?:system|popen|eval|exec|getattr|run|call|check_output)\b/,
	),
	...plain(
		// Images and fonts execute nothing.
		/(?:^|[\n=(, "'])data:(?!image\/(?:png|jpe?g|gif|webp|avif|x-icon)\b|font\/)[a-z]{2,20}\/[a-z]/,
		templateCalculation,
		/\{\{ ?[^\n{}]{0,80}\[[^\n\]]{1,40}\][^\n{}]{0,40}\}\}|\{\{ ?(?:self|_self|config|request|settings|cycler|joiner|namespace|lipsum|url_for|get_flashed_messages|session|g|app|dump|this)\b[^\n{}]{0,60}[._[][^\n{}]{0,80}\}\}/,
		/[#$@*~]\{(?! ?[a-z_]\w{0,40}(?:[.-][a-z_]\w{0,40}){0,5} ?\}) ?[^\n{}]{1,80}[*+(./%-]|\$\{\{(?! ?[a-z_]\w{0,40}(?:[.-][a-z_]\w{0,40}){0,5} ?\}\})|[@~]\( ?[\w"']{1,30} ?[*+/%-] ?[\w"']|\[\[ ?[$#*@]\{|__\$\{/,
		// Built-in objects of templates; sums, and conditions of a constant.
		/\{\{ ?(?:config|self|_self|settings|_context)(?: ?\|[^\n{}]{0,60})? ?\}\}|\{%[-+ ]{0,2}set [^\n%]{0,40}= ?(?:config|self|_self|request|session|cycler|lipsum|joiner|namespace|g)\b|\bget_admin_log\b/,
		/\{%[-+ ]{0,2}(?:for [^\n%]{1,40} in|include|extends) (?:config|self|_self|request|settings|session|cycler|lipsum|namespace)\b|#\{ ?(?:env|self|params|request|session)\b|@system\.(?:io|diagnostics|net|reflection)\.|\{\{ ?['"][^\n{}]{0,40}~/,
		/(?:\[[[%]|\{!) ?\d{1,9} ?\* ?\d{1,9} ?[\]%!]|\{ ?\d{1,9} ?\* ?\d{1,9} ?\}|\{%=? ?\d{1,9} ?[*+/-] ?\d|\{%[-+ ]{0,2}if (?:not )?(?:true|false|1|0)\b/,
		/\$\{ ?(?:applicationscope|sessionscope|requestscope|pagescope|pagecontext|initparam|facescontext)\b|#\{ ?facescontext\b|\$\{[^\n{}]{1,60}\.(?:class|constructor|module|classloader|mainmodule)\b|\$\{ ?process\.env\.\w{0,40}(?:secret|passw|credential|private)/,
		new RegExp(`<%(?!${inertScriptlet})[=@!#%-]? ?[^\\n<]{0,80}%>|<%[=@!](?!${inertScriptlet})`),
		// Statements that call, import or access an object; loops and conditions alone are harmless.
		/\{%[-+ ]{0,2}(?:import|debug|do|call|print|module|code|php|from|load_tags)\b|\{%[-+ ]{0,2}[a-z]{2,12}\b[^\n%]{0,120}(?:(?<!\.(?:items|keys|values|all))\(|__|\[ ?['"]|\| ?(?:attr|map|filter|sort|reduce|system|exec)\b|\.(?:constructor|class|mro)\b|\d ?[*/%+-] ?\d)|\{%[-+ ]{0,2}(?:include|extends|embed) ['"]?(?:\/|\.\.|[a-z]{2,10}:)/,
		/<#(?:assign|list|if|include|import|macro|function|global|local|setting|attempt|escape)\b|(?:^|[\n> ;])#(?:set|foreach|macro|include|parse|evaluate|define|if) ?\(|\$\{[^\n}]{0,60}\?(?:new|api|eval|interpret|c|string|url|has_api)\b/,
		/\{(?:php|literal|include|include_php|math|fetch|eval|system|if|foreach|smarty)\}|\{(?:system|self::|if|include|math|fetch|\$smarty)[ .('"$]/,
	),
];
