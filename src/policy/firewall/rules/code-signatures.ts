/** Programs in the languages of servers: `PHPHighRiskMethodsVariables`, `JavaDeserializationRCE`, `Log4JRCE`, `GenericCodeInjection`. */
import { anyOf, packed, plain, type Signature, uncommented } from './signature.ts';

/** Functions of PHP that reach the system, files or other code, and are no words. */
const oddFunctions =
	'array_map|array_filter|assert_options|base64_decode|base64_encode|bzdecompress|call_user_func|call_user_func_array|create_function|curl_exec|curl_init|curl_multi_exec|escapeshellarg|file_exists|file_get_contents|file_put_contents|fileatime|filegroup|fileinode|fileowner|fileperms|fpassthru|fsockopen|func_get_args|function_exists|get_defined_vars|getenv|getmyuid|gzdecode|gzfile|gzinflate|gzopen|gzuncompress|highlight_file|htmlspecialchars|include_once|ini_get|ini_set|is_callable|move_uploaded_file|mysql_query|ob_start|opendir|parse_ini_file|passthru|pcntl_exec|pcntl_fork|pfsockopen|phpinfo|phpversion|posix_getpwuid|posix_kill|preg_replace|proc_open|proc_close|putenv|readfile|readgzfile|readlink|register_shutdown_function|require_once|scandir|set_include_path|shell_exec|show_source|simplexml_load|str_rot13|stream_get_contents|stream_socket|strrev|substr|tempnam|tmpfile|unserialize|usort|var_dump|zend_version';

/** Beginnings of names that PHP's libraries share. */
const phpLibraries =
	'apache|apc|array|assert|base64|bz|call|class|create|ctype|curl|date|db|dba|debug|disk|error|escape|exif|extension|file|fsock|ftp|func|function|get|gz|hash|header|highlight|html|http|iconv|image|imap|ini|iptc|is|json|ldap|libxml|mb|mcrypt|md5|method|move|mssql|mt|mysql|mysqli|ob|oci|odbc|opcache|openssl|parse|password|pcntl|pg|php|posix|preg|proc|property|random|readline|register|runkit|session|sha1|shell|shmop|show|simplexml|socket|spl|sqlite|str|stream|sys|tidy|unregister|url|utf8|var|wincache|xml|zend|zip';

/** Functions whose names are words too: they count with a call's brackets and what stands in them. */
const wordFunctions =
	'array|assert|basename|bin2hex|chdir|chgrp|chmod|chown|chr|chroot|closedir|compact|constant|copy|crypt|dechex|decbin|die|dirname|dl|echo|escape|eval|exec|exit|explode|extract|feof|fflush|fgetc|fgets|fgetss|filectime|filemtime|filesize|filetype|flock|fopen|fputcsv|fputs|fread|fscanf|fstat|ftok|ftruncate|fwrite|glob|hex2bin|hexdec|implode|include|intval|isset|lchown|link|lstat|mail|md5|mkdir|nl2br|opendir|ord|pack|pclose|pfsockopen|popen|print|printf|rand|readdir|realpath|rename|require|rewind|rmdir|serialize|setcookie|settype|sleep|sprintf|stat|strlen|strtr|symlink|syslog|system|touch|ucfirst|umask|unlink|unpack|unset|usleep|vprintf';

const phpSettings =
	'allow_url_fopen|allow_url_include|auto_append_file|auto_prepend_file|disable_functions|disable_classes|extension_dir|memory_limit|open_basedir|output_handler|safe_mode|short_open_tag|upload_tmp_dir|user_ini|zend_extension|session\\.save_path|default_socket_timeout|file_uploads|max_execution_time|suhosin\\.[a-z._]{3,40}';

export const php: readonly Signature[] = [
	...plain(
		/<\?(?: ?php|=| [a-z$]|xml ?:)/,
		/\[[\\/]?php\]|\{[\\/]?php\}/,
		new RegExp(`(?:${phpSettings}) ?=`),
		/\$_(?:get|post|server|cookie|files|request|session|env)\b|\$(?:globals|http_[a-z_]{3,20}vars|argv)\b/,
		/\$ ?\{ ?['"$\w@]/,
		/(?:compress\.(?:zlib|bzip2)|ssh2\.(?:sftp|shell|exec|tunnel|scp)|php|phar|zip|zlib|bzip2|glob|expect|ogg|rar|phpfilter):\/\//,
		/\b[oc]:\d{1,9}:"[^"\n]{1,80}":\d{1,9}:\{/,
	),
	...uncommented(
		new RegExp(`(?:${oddFunctions}) ?\\(`),
		new RegExp(`\\b(?:${phpLibraries})_[a-z0-9_]{2,30} ?\\([^\\n)]{0,120}\\)`),
		new RegExp(`\\b(?:${wordFunctions}) ?(?:#[^\\n(]{0,40})?\\([^\\n)]{0,120}\\)`),
		/\$[\w]{1,40}(?: ?\[[^\]\n]{1,40}\]){0,4} ?(?:\/\/[^\n(]{0,20})?\([^\n)]{0,80}\)/,
		/[\])"'] ?\([^)\n]{0,60}\) ?;/,
		/\b[a-z_]\w{0,40}::\$?\w{1,40} ?\(/,
	),
];

/** In names of uploaded files: what a server would run. */
export const runnableFileNames: readonly Signature[] = plain(
	/\. ?(?:php\d{0,3}|phtml|pht|phpt|phar|phps|phpx|jspx?|aspx?|cgi)[ .]{0,20}$/,
	/(?:^|[\\/])sess_[a-z0-9,-]{20,128}$/,
	/(?:config\.(?:php|ya?ml|json|inc)|wp-config|\.htaccess|\.htpasswd|web\.config|\.env)/,
);

export const javaDeserialization: readonly Signature[] = [
	...packed(
		/\bjava(?:x)?\.(?:lang|io|util|net|nio|naming|script|rmi|beans|security|runtime|reflect|management)\b/,
		/\bjava\.(?:runtime|process)|\bprocessbuilder\b|\bruntime\.getruntime\b/,
		/(?:invoker|instantiate|chained|constant)transformer\b|(?:whileclosure|forclosure|prototypeclonefactory|prototypeserializationfactory|instantiatefactory)/,
		anyOf(
			'com.opensymphony.xwork2',
			'com.sun.org.apache',
			'org.apache.commons',
			'org.apache.struts',
			'org.springframework',
			'freemarker.template',
		),
		anyOf('ro0abq', 'ks0abq', 'cs0abq', 'aced0005'),
		/class\.(?:module\.)?classloader\b|#_memberaccess\b|@java\.|%\{[^\n}]{0,40}#/,
	),
];

export const log4j: readonly Signature[] = packed(
	/\$\{[^\n]{0,24}(?:jndi|ldaps?|rmi|dns|nis|iiop|corba|nds|https?):/,
	/\$\{(?:[^\n}]{0,20}\$\{)?(?:lower|upper|env|sys|java|date|ctx|main|k8s|docker|base64|::-)[^\n]{0,2}[:-]/,
);

export const genericCode: readonly Signature[] = [
	...plain(
		/\b(?:process|console) ?\[|\bprocess ?\. ?(?:env|binding|mainmodule|argv|spawn|exit|kill|stdout|dlopen)\b|\bconsole\.(?:log|info|debug|error|warn|trace|dir|table) ?[([]/,
		/\brequire ?(?:\[|\( ?['"`])|\brequire\.main\b|child_process|\bmodule\.constructor\b/,
		/\b(?:exec|spawn|fork|execfile)sync\b|\b(?:exec|spawn|readdir|readfile|writefile)(?:sync)?\( ?['"`]/,
		/\beval ?\(? ?(?:string|atob|unescape|decodeuri)|\bnew function ?\(|\bfunction ?\( ?\) ?\{|_\$\$nd_func\$\$_/,
		anyOf('xyqktkrfrlvoqyqkx', 'd2hpbguodhj1zsk'),
		/__proto__|\bconstructor ?(?:\.|\]?\[)[ '"]{0,3}(?:prototype|constructor)|\bprototype\]?\[/,
		/\b(?:process|kernel|io|file|dir|open3|pty)\.(?:spawn|popen|open|read|exec|system|entries|binread)\b ?\(?/,
		/\bwhile ?\( ?(?:\d|[-+] ?\d|[-+]?infinity|this\b|true\b|new |["'`[{(]|!(?!true\)))/,
		/(?:^|[\n=(, ])data:[a-z]{2,20}\/[a-z]/,
		/\{\{ ?[^\n{}]{0,80}(?:[*+(|.]|__|\d ?[-/] ?\d)|[#$@]\{ ?[^\n{}]{1,80}[*+(.]|<%[=@!-]? ?[^\n]{0,60}%>|<%=/,
		/\b(?:__class__|__mro__|__subclasses__|__globals__|__builtins__|__import__|__init__)\b/,
	),
];
