/** Programs in the languages of servers: `PHPHighRiskMethodsVariables`, `JavaDeserializationRCE`, `Log4JRCE`, `GenericCodeInjection`. */
import { anyOf, callOf, packed, plain, raw, type Signature, uncommented } from './signature.ts';

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Functions of PHP that reach the system, files, memory or other code, and are words of no language. */
const phpFunctions = names(`
	apache_child_terminate apache_get_modules apache_getenv apache_note apache_request_headers apache_setenv apc_add apc_store array_diff_uassoc array_diff_ukey
	array_filter array_flip array_intersect_uassoc array_intersect_ukey array_key_exists array_keys array_map array_merge array_pop array_push array_rand
	array_reduce array_reverse array_search array_shift array_slice array_udiff array_uintersect array_unshift array_values array_walk array_walk_recursive
	assert_options base64_decode base64_encode base_convert bin2hex bzcompress bzdecompress bzopen bzread call_user_func call_user_func_array call_user_method chgrp
	chroot class_exists class_implements clearstatcache convert_uudecode convert_uuencode create_function ctype_alpha curl_exec curl_file_create curl_getinfo
	curl_init curl_multi_exec curl_setopt curl_setopt_array curl_share_init date_add date_default_timezone_set dba_open dba_popen debug_backtrace debug_print_backtrace
	debug_zval_dump define_syslog_variables disk_free_space disk_total_space diskfreespace error_get_last error_log error_reporting escapeshellarg escapeshellcmd
	exif_imagetype exif_read_data exif_thumbnail expect_popen extension_loaded fdatasync fgetcsv file_exists file_get_contents file_put_contents fileatime filectime
	filegroup fileinode filemtime fileowner fileperms filter_input filter_var finfo_file finfo_open forward_static_call forward_static_call_array fpassthru fputcsv
	fscanf fsockopen ftp_connect ftp_exec ftp_get ftp_login ftp_nb_get ftp_nb_put ftp_put ftp_raw ftp_rawlist ftp_ssl_connect func_get_arg func_get_args func_num_args
	function_exists get_browser get_called_class get_cfg_var get_class_methods get_class_vars get_current_user get_declared_classes get_defined_constants
	get_defined_functions get_defined_vars get_extension_funcs get_include_path get_included_files get_loaded_extensions get_meta_tags get_object_vars
	get_resource_type getallheaders getcwd getenv gethostbyaddr gethostbyname gethostname getimagesize getlastmod getmygid getmyinode getmypid getmyuid getopt
	getrusage getservbyname gettype gmp_init gnupg_init gzcompress gzdecode gzdeflate gzencode gzfile gzgetc gzgets gzinflate gzopen gzpassthru gzread gzuncompress gzwrite
	hash_file hash_hmac hash_hmac_file hash_init hash_update_file header_register_callback headers_list hex2bin highlight_file highlight_string html_entity_decode
	htmlentities htmlspecialchars htmlspecialchars_decode http_build_query iconv_strlen ignore_user_abort image2wbmp imagecreatefromgif imagecreatefromjpeg
	imagecreatefrompng imagegif imagejpeg imagepng imap_body imap_list imap_mail imap_open include_once inet_pton ini_alter ini_get ini_get_all ini_parse_quantity
	ini_restore ini_set intdiv iptcembed is_a is_array is_bool is_callable is_dir is_executable is_file is_int is_link is_null is_numeric is_object is_readable is_resource
	is_string is_subclass_of is_uploaded_file is_writable is_writeable iterator_apply json_decode json_encode krsort ksort lcfirst lchgrp lchown ldap_bind ldap_connect
	ldap_search libxml_disable_entity_loader linkinfo localeconv ltrim mb_convert_encoding mb_decode_numericentity mb_encode_mimeheader mb_ereg mb_ereg_replace
	mb_ereg_replace_callback mb_eregi_replace mb_http_output mb_internal_encoding mb_parse_str mb_preferred_mime_name mb_send_mail mb_strlen mb_substr mcrypt_decrypt
	mcrypt_encrypt md5_file memory_get_usage method_exists mhash move_uploaded_file msg_send mssql_connect mssql_query mysql_connect mysql_pconnect mysql_query mysqli_connect
	mysqli_multi_query mysqli_query mysqli_real_query nl2br number_format ob_clean ob_end_clean ob_get_clean ob_get_contents ob_start oci_connect oci_execute oci_parse odbc_connect
	odbc_exec odbc_execute opcache_compile_file opcache_get_status opcache_invalidate opendir openlog openssl_decrypt openssl_encrypt openssl_pkey_get_private openssl_sign
	override_function parse_ini_file parse_ini_string parse_str parse_url passthru password_hash pathinfo pcntl_alarm pcntl_exec pcntl_fork pcntl_signal pclose pfsockopen pg_connect
	pg_execute pg_lo_export pg_lo_import pg_lo_open pg_prepare pg_query pg_query_params php_ini_loaded_file php_ini_scanned_files php_sapi_name php_strip_whitespace php_uname phpcredits
	phpinfo phpversion popen posix_access posix_ctermid posix_getcwd posix_getegid posix_geteuid posix_getgid posix_getgrgid posix_getlogin posix_getpid posix_getpwnam posix_getpwuid
	posix_getuid posix_kill posix_mkfifo posix_mknod posix_setegid posix_setgid posix_setpgid posix_setsid posix_setuid posix_times posix_ttyname posix_uname preg_grep preg_match
	preg_match_all preg_quote preg_replace preg_replace_callback preg_replace_callback_array preg_split print_r proc_close proc_get_status proc_nice proc_open proc_terminate
	property_exists pspell_new putenv random_bytes random_int rawurldecode rawurlencode read_exif_data readdir readfile readgzfile readline_add_history readline_write_history readlink
	realpath_cache_get register_shutdown_function register_tick_function rename_function require_once restore_error_handler rewinddir rsort runkit_constant_redefine
	runkit_function_add runkit_function_rename scandir sem_get serialize_precision session_destroy session_id session_register session_set_save_handler session_start session_unset set_error_handler
	set_exception_handler set_file_buffer set_include_path set_magic_quotes_runtime set_time_limit setcookie setlocale setrawcookie settype sha1_file shell_exec shm_attach shm_put_var shmop_open
	show_source simplexml_load_file simplexml_load_string snmpget snmpset snmpwalk socket_accept socket_bind socket_connect socket_create socket_create_listen socket_listen
	spl_autoload spl_autoload_register spl_object_hash sqlite_array_query sqlite_create_aggregate sqlite_create_function sqlite_exec sqlite_open sqlite_popen sqlite_query ssh2_connect ssh2_exec
	ssh2_scp_recv str_getcsv str_ireplace str_pad str_repeat str_replace str_rot13 str_shuffle str_split strcasecmp stream_context_create stream_get_contents stream_get_line stream_select
	stream_socket_accept stream_socket_client stream_socket_server stream_wrapper_register strip_tags stripcslashes stripslashes stripos stristr strlen strncasecmp strncmp strpos
	strrev strrpos strstr strtolower strtotime strtoupper strtr substr_count substr_replace symlink syslog sys_getloadavg sys_get_temp_dir tempnam tidy_parse_file tmpfile trigger_error uasort ucfirst
	ucwords uksort uniqid unlink unregister_tick_function unserialize urldecode urlencode user_error usort utf8_decode utf8_encode var_dump var_export virtual vfprintf vprintf vsprintf wddx_deserialize
	wincache_ucache_set xdebug_call_class xml_parse xml_parse_into_struct xml_parser_create xml_set_character_data_handler xml_set_element_handler xmlrpc_decode xmlwriter_open_uri yaml_parse
	yaml_parse_url zend_version zip_open zlib_decode
	basename boolval chdir chmod chown closedir decbin dechex dirname doubleval feof fflush fgetc fgets fgetss filesize filetype floatval flock fopen fputs fread fseek fstat ftell ftok ftruncate fwrite getdate hexdec intval isset lstat mkdir mt_rand opendir printf rmdir serialize sizeof sprintf strlen umask unpack unset usleep
`);

/** Functions whose names are words or common elsewhere: they count with a text, a variable or another call between their brackets. */
const phpWordFunctions =
	'array|assert|chr|compact|constant|copy|crypt|define|die|dir|dl|each|echo|empty|end|ereg|eregi?_replace|eval|exec|exit|explode|extract|file|glob|header|implode|include|join|key|link|mail|md5|ord|pack|print|rand|range|rename|require|reset|rewind|round|sha1|sleep|sort|split|stat|system|touch|trim|virtual';

const phpSettings =
	'allow_webdav_methods|arg_separator\\.(?:in|out)put|asp_tags|auto_detect_line_endings|auto_globals_jit|detect_unicode|display_(?:startup_)?errors|docref_(?:ext|root)|enable_dl|enable_post_data_reading|gpc_order|hard_timeout|html_errors|ignore_repeated_(?:errors|source)|ignore_user_abort|implicit_flush|magic_quotes_\\w{3,10}|max_file_uploads|max_multipart_body_parts|register_(?:globals|long_arrays)|report_memleaks|report_zend_debug|sql\\.safe_mode|xbithack|allow_url_fopen|allow_url_include|auto_append_file|auto_prepend_file|disable_functions|disable_classes|extension_dir|memory_limit|open_basedir|output_handler|safe_mode|short_open_tag|upload_tmp_dir|user_ini|zend_extension|default_socket_timeout|file_uploads|max_execution_time|default_charset|doc_root|error_log|error_prepend_string|error_append_string|expose_php|include_path|input_encoding|log_errors|mail\\.(?:log|add_x_header|force_extra_parameters)|max_input_(?:time|vars|nesting_level)|post_max_size|precision|realpath_cache_(?:size|ttl)|register_argc_argv|request_order|sendmail_(?:from|path)|serialize_precision|sys_temp_dir|track_errors|unserialize_(?:callback_func|max_depth)|upload_max_filesize|url_rewriter\\.tags|user_agent|user_dir|variables_order|xmlrpc_errors?|highlight\\.(?:string|comment|keyword|default|html)|(?:apc|assert|bcmath|browscap|cgi|cli_server|com|curl|date|dba|exif|fastcgi|fpm|gd|iconv|ibase|imap|intl|ldap|mbstring|mcrypt|memcached?|mssql|mysqli?|mysqlnd|oci8|odbc|opcache|openssl|pcre|pdo_\\w{2,10}|pgsql|phar|phpdbg|session|soap|sqlite3?|suhosin|swoole|sysvshm|tidy|uploadprogress|uopz|windows|xdebug|yaml|zend|zlib)\\.(?:\\w{1,30}_\\w{1,40}|save_path|name|lazy_write|compression|charset|encoding|timezone|prefix|preload|enable)';

export const php: readonly Signature[] = [
	...plain(
		/<\?(?: ?php|=| [a-z$]|xml ?:)/,
		/\[[\\/]?php\]|\{[\\/]?php\}/,
		new RegExp(`(?<![\\w.-])(?:${phpSettings}) ?[=\\n]`),
		/\$_(?:get|post|server|cookie|files|request|session|env)\b|\$(?:globals|http_[a-z_]{3,20}vars|argv|php_errormsg)\b/,
		/\$ ?\{ ?['"$\w@]/,
		/(?:compress\.(?:zlib|bzip2)|ssh2\.(?:sftp|shell|exec|tunnel|scp)|php|phar|zip|zlib|bzip2|glob|expect|ogg|rar|phpfilter):\/\//,
		/\b[oc]:\+?\d{1,9}:"[^"\n]{1,80}":\+?\d{1,9}:\{/,
	),
	...uncommented(
		callOf(phpFunctions, 'calls of PHP functions'),
		new RegExp(
			`(?<![\\w.])(?:${phpWordFunctions})(?: ?(?:#[^\\n(]{0,40})?\\( ?(?:['"$@]|[a-z_]\\w{1,30} ?\\(|\\/[a-z]{1,20}\\/|https?:)[^\\n]|\\([^\\n)]{0,80}\\) ?(?:;|\\?>|\\.))`,
		),
		/(?<![\w.])(?:exec|eval|assert|popen) ?(?:#[^\n(]{0,40})?\([^\n)]{1,80}\)/,
		// A name that was computed, and called.
		/(?<![\w$])\$[\w$]{1,40}(?: ?[[{][^}\n]{1,40}[\]}]){0,4} ?(?:\/\/[^\n(]{0,20})?\([^\n)]{0,80}\)/,
		/['"][\w\\. ]{1,40}['"] ?\)? ?\( ?(?:['"$)]|\d)|[\])"'] ?\([^)\n]{0,60}\) ?;|\)\(['"][^\n'"]{1,60}['"]\)/,
		/(?<![\w\\:])[a-z_\\][\w\\]{0,60}::\$?\w{1,40} ?\( ?['"$)]|\$\w{1,30} ?->\w{1,40} ?\(/,
		/\bnew (?:\\{1,2})?(?:spl\w{3,30}|simplexmlelement|reflection\w{3,20}|\w{0,20}directoryiterator|globiterator|soapclient|phar(?:data)?|pdo|mysqli|finfo|domdocument|xsltprocessor|ffi|imagick|arrayobject|closure|ziparchive|sqlite3|exception) ?\(/,
	),
];

/** In names of uploaded files: what a server would run. */
export const runnableFileNames: readonly Signature[] = plain(
	/\. ?(?:php\d{0,3}|phtml|pht|phpt|phar|phps|phpx|jspx?|aspx?|cgi)[ .]{0,20}$/,
	/(?:^|[\\/])sess_[a-z0-9,-]{20,128}$/,
	/(?:config\.(?:php|ya?ml|json|inc)|wp-config|\.htaccess|\.htpasswd|web\.config|\.env)/,
);

/** Packages of the JDK; what everybody's error messages and examples name is left out. */
const jdkClasses =
	'\\bjava\\.(?:lang\\.(?!\\w{0,40}(?:exception|error)\\b)\\w|util\\.(?!(?:list|map|set|date|optional|array(?:list|s)?|hash(?:map|set)|stream|function|collections?|uuid|random|scanner class)\\b)\\w|(?:io|net|nio|rmi|beans|security|sql|text\\.|time\\.|awt|applet|math\\.|naming|logging)\\b)|\\bjavax?\\.(?:script|naming|management|el|servlet|imageio|persistence|print|sql|swing|tools|xml|crypto|activation|jms|faces|validation|accessibility|sound|transaction|net|rmi|security|runtime|reflect|io)\\b';

const javaLibraries =
	'\\b(?:com\\.sun\\.[a-z]|sun\\.(?:misc|reflect|rmi|net|security|print|tools|jvmstat)\\b|jdk\\.(?:internal|nashorn|jshell|jfr)|com\\.opensymphony\\.|com\\.mchange\\.|com\\.alibaba\\.|com\\.zaxxer\\.|com\\.mysql\\.|com\\.caucho\\.|com\\.rometools\\.|com\\.vaadin\\.|com\\.ibm\\.|com\\.oracle\\.|com\\.bea\\.|com\\.thoughtworks\\.|com\\.fasterxml\\.jackson|ch\\.qos\\.|net\\.sf\\.|org\\.omg\\.corba\\b|org\\.(?:apache|springframework|codehaus|hibernate|jboss|yaml|mozilla\\.(?:javascript|classfile)|python\\.core|jython|aspectj|quartz|mortbay|eclipse|objectweb|reflections|w3c\\.dom|xml\\.sax|omg\\.corba|glassfish|postgresql|h2|hsqldb|joda|jruby|beanshell|infinispan|geotools|mvel2?|thymeleaf|freemarker|drools)\\.|weblogic\\.[a-z]|bsh\\.\\w|clojure\\.[a-z]|scala\\.(?:sys|tools|reflect)|groovy\\.[a-z]|ognl\\.[a-z]|freemarker\\.[a-z]|oracle\\.(?:jdbc|jms|ucp)|mx4j\\.|jndi\\.ldap)';

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

export const genericCode: readonly Signature[] = [
	...uncommented(
		// JavaScript on a server.
		/\b(?:process|console|global|globalthis|module|require|reflect|buffer|vm) ?\[ ?['"`a-z]|\b(?:process|globalthis) ?\. ?(?:env|binding|mainmodule|argv|argv0|execpath|spawn|exit|kill|stdout|stderr|stdin|dlopen|pid|ppid|cwd|chdir|versions?|platform|constructor|abort|nexttick|umask|getuid|setuid|report|release|config|memoryusage|hrtime|uptime|openstdin|emit|on|process|require|eval)\b/,
		/\bconsole\.(?:log|info|debug|error|warn|trace|dir|table|assert|count|group|time) ?[([`]|\bglobal\. ?(?:process|require|constructor|module|eval|console)\b/,
		/\brequire ?(?:\[|\( ?['"`])|\brequire\.(?:main|cache|resolve|extensions)\b|child_process|\bmodule\. ?(?:constructor|exports|require|_load|parent|children)\b|\bimport ?\( ?['"`]|\bnode:(?:child_process|fs|net|http|vm|os|process|module|dns|worker_threads)\b/,
		/\b(?:exec|spawn|fork|execfile|readdir|readfile|writefile|appendfile|unlink|mkdir|rmdir|exists|stat|createreadstream)sync\b|\b(?:exec|spawn|execfile|readdir|readfile|writefile|appendfile)(?:sync)?\( ?['"`]|\bcreate(?:read|write)stream\(/,
		/\beval ?\(? ?(?:string|atob|unescape|decodeuri|name|location|function|compile|buffer|request|this)\b|\beval ?\( ?["'`]|\bnew function ?\(|\bfunction ?\( ?\) ?\{|_\$\$nd_func\$\$_|\bfunction\.prototype\b|\bfunction ?\( ?['"`]|\(\) ?=> ?[{(a-z]/,
		anyOf('xyqktkrfrlvoqyqkx', 'd2hpbguodhj1zsk'),
		/\b(?:vm\.)?(?:runin(?:new|this)?context|createcontext|compilefunction) ?\(|\bbuffer\.(?:from|alloc|allocunsafe) ?\(|\bnew buffer ?\(|\bsettimeout ?\(|\bsetinterval ?\(|\bsetimmediate ?\(|\batob ?\(|\bbtoa ?\(|\bstring\.fromcharcode\b|\bobject\.(?:assign|defineproperty|setprototypeof|getownpropertynames|create|entries) ?\(|\bjson\.parse ?\(/,
		/__proto__|\b__define[gs]etter__|\b__lookup[gs]etter__|\bconstructor['"]? ?(?:\.|\]?\[|:) ?[ {'"]{0,3}(?:prototype|constructor)|\bprototype['"]?\]?\[|\.constructor ?[([.]|\[['"`]constructor['"`]\]/,
		/\bwhile ?\( ?(?:\d|[-+] ?\d|[-+]?infinity|this\b|true\b|new |["'`[{(]|!(?!true\)))|\bfor ?\( ?;[^\n;]{0,20};[^\n)]{0,20}\)/,
		// Python.
		/\b(?:__class__|__mro__|__subclasses__|__globals__|__builtins__|__import__|__init__|__base__|__bases__|__dict__|__getattribute__|__reduce__|__code__|__loader__)\b ?(?:\.(?!py\b)|[([)]|$|\n)|\b__import__|__(?:subclasses|globals|builtins|mro)__/,
		/\bos\.(?:system|popen[234]?|exec[lv]p?e?|spawn[lv]p?e?|remove|unlink|environ|listdir|fork|kill|getcwd|startfile) ?[([]|\bsubprocess\.(?:popen|call|run|check_output|check_call|getoutput|getstatusoutput)\b|\b(?:commands\.getoutput|platform\.popen|pty\.spawn|ctypes\.|importlib\.import_module|builtins\.|sys\.modules|runpy\.) ?[([a-z]|\b(?:pickle|cpickle|marshal|shelve|dill|jsonpickle|yaml)\.(?:unsafe_)?loads? ?\(/,
		/\b(?:exec|eval) ?\( ?(?:compile|open|input|base64|bytes|codecs|chr|requests|urllib|["'`]) ?|\bopen ?\( ?['"][./~\w]|\bgetattr ?\( ?[a-z_"']|\bcompile ?\( ?["']|\b(?:globals|locals|vars) ?\( ?\) ?\[/,
		// Ruby and Perl.
		/\b(?:process|kernel|io|file|dir|open3|pty|open4|socket|tcpsocket|tcpserver|fileutils|erb|marshal|yaml|object|binding|objectspace|instance_eval|net::http|fiddle|syscall)\.(?:spawn|popen[23]?|open|read(?:lines?)?|exec|system|entries|glob|binread|binwrite|write|unlink|delete|fork|kill|detach|daemon|capture[23]e?|pipeline\w{0,3}|foreach|sysopen|new|load|unsafe_load|send|const_get|eval|get|rm_rf?|mv|cp) ?[(`'"]|\bkernel\.(?:open|fork|exec|system|spawn|syscall|eval|`)|\bprocess\.(?:spawn|fork|daemon|detach)\b/,
		/%[xqw]\{[^\n}]{1,80}\}|%x[([<|/!][^\n]{1,80}|@\{ ?\[|\bqx ?[{(/'"|!]|\breadpipe\b|\b(?:system|exec|syscall|eval) ["'][^\n"']{1,80}["']|\bsend\( ?:(?:system|eval|exec|spawn|`)|\binstance_eval\b|\bclass_eval\b|\bconst_get\b/,
	),
	...plain(
		/(?:^|[\n=(, "'])data:[a-z]{2,20}\/[a-z]/,
		// Templates: between their brackets stand calculations, calls, filters or what every object has.
		/\{\{[-~#!&]? ?[^\n{}]{0,80}(?:[*(|]|__|\d ?[-+/%] ?\d|\.(?:constructor|items|env|application|getclass|class|prototype|config|self|mro|request))/,
		/\{\{ ?[^\n{}]{0,80}\[[^\n\]]{1,40}\][^\n{}]{0,40}\}\}|\{\{ ?(?:self|_self|config|request|settings|cycler|joiner|namespace|lipsum|range|url_for|get_flashed_messages|session|g|app|dump|this)\b[^\n{}]{0,60}[._[][^\n{}]{0,80}\}\}/,
		/[#$@*~]\{ ?[^\n{}]{1,80}[*+(./%-]|\$\{\{|[@~]\( ?[\w"']{1,30} ?[*+/%-] ?[\w"']|\[\[ ?[$#*@]\{|__\$\{/,
		/<%[=@!#%-]? ?[^\n<]{0,80}%>|<%[=@!]/,
		/\{%[-+ ]{0,2}(?:for|if|set|import|include|macro|extends|block|call|with|debug|do|filter|from|load|raw|autoescape|apply|embed|sandbox|verbatim|assign|capture|print|comment|module|code)\b/,
		/<#(?:assign|list|if|include|import|macro|function|global|local|setting|attempt|escape)\b|(?:^|[\n> ;])#(?:set|foreach|macro|include|parse|evaluate|define|if) ?\(|\$\{[^\n}]{0,60}\?(?:new|api|eval|interpret|c|string|url|has_api)\b/,
		/\{(?:php|literal|include|include_php|math|fetch|eval|system|if|foreach|smarty)\}|\{(?:system|self::|if|include|math|fetch|\$smarty)[ .('"$]/,
	),
];
