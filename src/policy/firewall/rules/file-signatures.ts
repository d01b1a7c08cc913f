/** Files that are none of a client's business, by path, by address and by extension; and addresses that only the host itself should ask. */
import { anyOf, packed, plain, type Signature } from './signature.ts';

const systemFiles = [
	'/@fs/',
	'/@id/',
	'.ssh/',
	'.aws/',
	'.azure/',
	'.gnupg/',
	'.kube/',
	'.docker/',
	'.git/',
	'.svn/',
	'.hg/',
	'.vscode/',
	'.idea/',
	'.htaccess',
	'.htpasswd',
	'.bash_history',
	'.bashrc',
	'.bash_profile',
	'.zshrc',
	'.mysql_history',
	'.psql_history',
	'.netrc',
	'.npmrc',
	'.pgpass',
	'.my.cnf',
	'.env.local',
	'.env.production',
	'id_rsa',
	'id_dsa',
	'id_ecdsa',
	'id_ed25519',
	'authorized_keys',
	'master.passwd',
	'httpd.conf',
	'nginx.conf',
	'php.ini',
	'my.cnf',
	'win.ini',
	'boot.ini',
	'system.ini',
	'web.config',
	'wp-config',
	'web-inf/',
	'meta-inf/',
	'windows/system32',
	'windows\\system32',
	'system32\\',
	'system32/',
	'inetpub',
];

/** `GenericLFI`: paths out of the directory, and files that such paths lead to. */
export const localFiles: readonly Signature[] = [
	...plain(
		/(?:^|[\\/;=\n @(])\.{2,3}[\\/;]/,
		/[\\/;]\.{2}(?:[\\/;]|0x2f|0x5c|;)/,
		/0x(?:2f|5c)(?:0x2e|\.){1,2}|(?:0x2e|\.){1,2}0x(?:2f|5c)/,
		/[\\/]\.{1,2}; ?[\\/]/,
		/\.[\\/]\.[\\/]\.[\\/]/,
		/\/(?:etc|proc|sys|boot|root)\/[\w.*?[{$-]|\/var\/(?:log|run|lib|www|spool|mail|backups|cache)\b/,
		/(?:^|[\\/\n]|\.\.\/)\.(?:bash_|zsh_|sh_)?history\b/,
		/\b(?:file|netdoc|jar):\/{1,3}[a-z/]/,
		anyOf(...systemFiles),
	),
];

/** In a path alone: hidden files and directories; nothing here is served from one but `/.well-known/`. */
export const hiddenFiles: readonly Signature[] = plain(
	/[\\/]\.(?!well-known\/)[a-z]/,
	/[\\/](?:debug|error|errors|access)\.log(?:$|[\n/?])/,
);

const extensions =
	'axd|asax|ascx|bak|backup|bash|bat|bkp|cer|cfg|cfm|cnf|conf|config|crt|csproj|csr|dat|db|dbf|dll|dos|env|hta|htr|ida|idc|idq|inc|ini|kdbx|key|licx|lnk|log|mdb|old|ora|orig|p12|pem|pfx|pol|ps1|pwd|rdb|reg|resources|resx|save|sh|sql|sqlite|swp|sys|vbproj|vsdisco|webinfo|xsd|xsx';

/** `RestrictedExtensions`, at the end of a path or of a value, or before another extension. */
export const restrictedExtensions: readonly Signature[] = plain(
	new RegExp(`[a-z0-9_/~-]\\.(?:${extensions})(?:\\.(?:gz|zip|bz2|tar|xz|7z|rar))?~?(?:$|[\\n/;])`),
);

/** `GenericRFI`: a value that is an address of somebody's script. */
export const remoteFiles: readonly Signature[] = plain(
	/(?:^|\n)(?:ftps?|https?|file):(?:\/\/)?\[?(?:\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|[0-9a-f]{0,4}:[0-9a-f:]{2,40})/,
	/(?:^|\n)(?:ftps?|https?|file)\b[^\n]{0,512}\?(?:\n|$)/,
	/(?:^|\n)(?:_conf\[path\]|mosconfig_absolute_path|abspath|absolute_path|basepath|basedir|include_path|path_to_root|root_path|phpbb_root_path|dir_path|doc_root)\n(?:ftps?|https?):/,
	/(?:^|\n)(?:https?|ftps?):[^\n]{1,256}\.(?:php\d?|phtml|jsp|asp|aspx|txt|gif|pl|cgi)\?/,
);

/** `GenericSSRF`: values that are addresses of the network inside. Not for header fields: developers' browsers send `referer: http://localhost/`. */
export const innerAddresses: readonly Signature[] = plain(
	/(?:^|\n)(?:https?:\/*)?\[?(?:localhost(?:\.localdomain)?|ipv?6-(?:localhost|loopback)|localhost6(?:\.localdomain6)?|kubernetes(?:\.default)?(?:\.svc(?:\.cluster\.local)?)?|host\.docker\.internal)\]?(?::\d{1,5})?\//,
	/(?:^|\n)(?:https?|ftp|gopher|dict|ldap|tftp):\/*(?:127\.|0\.0\.0\.0|10\.\d|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|\[?::1?\]?|localhost\b|0x7f|2130706433|017700000001)/,
	/\.svc\.cluster\.local\b|\b(?:gopher|dict|jar|netdoc):\/\//,
);

/** `EC2MetaDataSSRF`: credentials of the machine, in the spellings that resolve to the same address. */
export const metadataAddresses: readonly Signature[] = packed(
	anyOf(
		'169.254.169.254',
		'169.254.170.2',
		'169.254.43518',
		'2852039166',
		'0xa9fea9fe',
		'0xa9.0xfe.0xa9.0xfe',
		'0251.0376.0251.0376',
		'025177524776',
		'fd00:ec2::254',
		'::ffff:a9fe:a9fe',
		'100.100.100.200',
		'192.0.0.192',
		'instance-data.ec2.internal',
		'metadata.google.internal/',
		'metadata.google.internal.',
		'computemetadata/v1',
		'latest/meta-data',
		'latest/user-data',
		'latest/dynamic/instance-identity',
	),
);
