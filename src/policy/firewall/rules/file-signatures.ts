/**
 * Signatures of files that clients must not read, by path, by address and by extension, and of addresses that only the host itself should
 * access.
 */
import { innerAddress, metadataAddress, numericAddress } from './address-injection.ts';
import { anyOf, packed, plain, raw, type Signature, slashed, type TextTest } from './signature.ts';

/** Directories and files with credentials, histories and configuration, anywhere in a path. */
const systemFiles = [
	'/@fs/',
	'/@id/',
	...'.ssh .aws .azure .gnupg .gnupg .kube .docker .git .svn .hg .bzr .vscode .idea .config/gcloud .terraform .ansible .chef .subversion .cargo .m2 .gem'
		.split(' ')
		.map((name) => `${name}/`),
	...'.htaccess .htpasswd .bashrc .bash_profile .bash_login .bash_logout .zshrc .zshenv .cshrc .tcshrc .kshrc .netrc .npmrc .yarnrc .pypirc .pgpass .my.cnf .s3cfg .boto .git-credentials .gitconfig .dockercfg .dockerenv .env.local .env.production .rhosts .viminfo .lesshst .wget-hsts .vault-token'.split(
		' ',
	),
	...'id_rsa id_dsa id_ecdsa id_ed25519 authorized_keys known_hosts master.passwd httpd.conf nginx.conf apache2.conf php.ini my.cnf sshd_config win.ini boot.ini system.ini web.config wp-config web-inf/ meta-inf/ tomcat-users.xml server.xml/ ntuser.dat unattend.xml sam.log'.split(
		' ',
	),
	'windows/system32',
	'system32/',
	'inetpub/',
];

const step = /[\\/;]\.{2,3}[\\/;]/;

/** Steps to a parent directory. A link in a page can have one that stays within the site. */
const stepsOut: TextTest = {
	source: 'steps to directories above',
	anySign: '/;',
	test: (text) =>
		step.test(text) &&
		text.split('\n').some((line) => step.test(/^https?:\/\/\w/.test(line) ? line.replace(/(\/[\w-]{1,60})\/\.\.(?=\/\w)/, '$1') : line)),
};

/** `GenericLFI`: paths out of the directory, and files that such paths target. */
export const localFiles: readonly Signature[] = [
	...plain(
		/(?:^|[;=\n @(])\.{2,3}[\\/;]/,
		stepsOut,
		/[\\/;]\.{2}(?:0x2f|0x5c|;)|[\\/]\.{4}[\\/]{2}/,
		/0x(?:2f|5c)(?:0x2e|\.){1,2}|(?:0x2e|\.){1,2}0x(?:2f|5c)/,
		/[\\/]\.{1,2}; ?[\\/]/,
		/\.[\\/]\.[\\/]\.[\\/]/,
		/\b(?:file|netdoc|jar|local_file):\/{1,3}[a-z/]/,
		// Windows share of another host.
		/(?:^|\n)\\{2,4}[\w.-]{1,60}\\{1,2}[\w$.-]{1,60}/,
	),
	...slashed(
		/(?:^|[^\w.\n-])\/?(?:etc|proc|sys|boot|root)\/[\w.*?[{$-]|(?:^|\n)(?:etc|proc)\/(?:passwd|shadow|group|hosts|self|issue)/,
		/\/var\/(?:log|run|lib|www|spool|mail|backups?|cache|db|tmp)\b|\/usr\/(?:local\/)?(?:etc|share|lib|apps?)\/|\/(?:tmp|dev\/shm)\/[\w.]{1,40}\.(?:sh|php|py|pl|elf|so)\b|\/opt\/[\w-]{1,30}\/(?:etc|conf|config)\//,
		/(?:^|[/\n])\.(?:\w{1,20}_)?history\b/,
		/(?:^|[/\n])\.env(?:$|[\n.])/,
		/~\w{0,20}\/\.[a-z]/,
		// Hidden directory at the beginning of a path.
		/(?:^|\n)\/?\.(?!well-known|github|net\b|storybook)[a-z][\w-]{1,30}\/[\w.]/,
		/\b(?:app\/etc\/(?:local|env)|sites\/default\/settings|config\/(?:database|secrets|master|app)|includes\/configure)\.(?:xml|php|ya?ml|key|inc)\b/,
		/\b[a-z]:\/(?:windows|winnt|boot|inetpub|program ?files|programdata|xampp|wamp|system volume|documents and settings|users\/[^/\n]{1,40}\/(?:appdata|ntuser|\.)|\$)/,
		/(?:^|\/)(?:windows|winnt)\/(?:system32|repair|win\.ini|system\.ini|debug|panther)/,
		anyOf(...systemFiles),
	),
	// NUL, which ends a file name early.
	...raw(/%(?:25){0,2}00|%u0000/),
];

/** Hidden files and directories, in a path only; `/.well-known/` is the only such directory that is served. */
export const hiddenFiles: readonly Signature[] = plain(
	/[\\/]\.(?!well-known\/)[a-z]/,
	/[\\/](?:debug|error|errors|access|php_errors?|laravel|npm-debug|catalina|install)\.log(?:$|[\n/?])/,
	/[\\/](?:id_(?:rsa|dsa|ecdsa|ed25519)|wp-config[\w.]{0,20}|web\.config|(?:composer|package|package-lock|npm-shrinkwrap|bower|tsconfig|ormconfig|appsettings|secrets?|credentials|service-?account|firebase|pipfile|gemfile|cargo|poetry|yarn|pnpm-lock)\.(?:json|lock|toml|ya?ml)|docker-compose\.ya?ml|dockerfile|jenkinsfile|vagrantfile|gemfile|rakefile|procfile|makefile|pipfile|(?:webpack|gulp|grunt|vite|rollup|babel|jest|next)(?:\.config|file)\.[cm]?[jt]s|(?:config|database|settings|parameters|secrets|application|credentials|databases|routing|services)\.(?:ya?ml|properties|php|inc\.php|py|rb)|(?:local)?settings\.php|configuration\.php|(?:php)?info\.php|phpmyadmin|adminer\.php|server-(?:status|info)|cgi-bin\/[\w.]{1,40})(?:$|[\n/?~])/,
);

const extensions =
	'axd|asax|ascx|bak\\d?|backup|bash|bash_history|bat|bkp|cer|cfg|cfm|cnf|conf|crt|csproj|csr|db3?|dbf|dll|dmp|dos|hprof|hta|htr|htw|ida|idc|idq|inc|ini|jks|kdbx?|keystore|ldb|licx|lnk|log|mdb|mdf|mdw|myd|ora|orig|ovpn|p12|passwd|pem|pfx|ppk|ps1|psm1|pwd|rdb|rdp|resx|sh|shtm|sql|sqlite[23]?|sqlitedb|stm|sw[nop]|sys|tfstate|tfvars|vb|vbe|vbproj|vbs|vsdisco|webinfo|wsf|xsd|xsx';
/** Extensions that are also names of fields: in a value they are an extension only after a slash. */
const wordExtensions = 'asa|cmd|config|copy|core|dat|db|dist|dump|env|key|old|pass|pol|printer|reg|resources|sav|save|swap|tmp';
const archives = '(?:\\.(?:gz|zip|bz2|tar|xz|7z|rar|txt|html?))?[~#]?(?:$|[\\n/;])';

const restrictedName = new RegExp(`(?:^|[\\n/\\\\])(?:[^\\n /\\\\@:]{1,120})\\.(?:${extensions})${archives}`);
const restrictedPath = new RegExp(`[/\\\\](?:[^\\n /\\\\@:]{1,120})\\.(?:${wordExtensions})${archives}`);

const restrictedNameOf = (pattern: RegExp): TextTest => ({
	source: pattern.source,
	anySign: '.',
	// A text that mentions a file does not request one.
	test: (text) => pattern.test(text) && text.split('\n').some((line) => !/ [^ ]+ /.test(line) && pattern.test(line)),
});

/** `RestrictedExtensions`, at the end of a path or of a value, or before another extension. */
export const restrictedExtensions: readonly Signature[] = plain(
	restrictedNameOf(restrictedName),
	restrictedNameOf(restrictedPath),
	/[\w)]\.(?:php\d?|phtml|jspx?|aspx?|py|rb|pl|js|html?|xml|ya?ml|json)(?:~|\.(?:bak|old|orig|save|swp|tmp|copy|\d))(?:$|[\n/])/,
);

/** Common names of web shells. */
const webShells =
	/\/(?:c99|r57|c100|wso\d?|b374k|shell|cmd|backdoor|alfa|indoxploit|webshell|reverse|payload|exploit|weevely|phpspy|simple-backdoor|aspxspy|antsword|godzilla)\d{0,3}\.(?:php\d?|phtml|phar|inc|txt|jspx?|aspx?|cfm|pl|py|cgi|sh|war|exe|dat|gif\?)/;

/** `GenericRFI`: values that are the address of a remote script. */
export const remoteFiles: readonly Signature[] = plain(
	numericAddress,
	/(?:^|\n)(?:ftps?|https?|file)\b[^\n ]{0,512}\?(?:\n|$)/,
	/(?:^|\n)(?:_conf\[path\]|mosconfig[a-z_]{1,20}|(?:abs(?:olute)?_?)path|base(?:path|dir|_path|_dir)|include(?:_?path|_?file|dir)|path_to_root|root_?(?:path|dir)|phpbb_root_path|dir_?(?:path)?|doc_?root|server_root|cfg_path|config_path|lib_?(?:path|dir)|_server\[document_root\])\n(?:ftps?|https?):/,
	// The suffix that the server appends becomes part of the query.
	/(?:^|\n)(?:https?|ftps?):[^\n]{1,256}\.(?:php\d?|phtml|jsp|aspx?|txt|gif|jpe?g|png|pl|cgi|inc|dat)\?(?:\w{0,20}=?)?(?:\n|$)/,
	/(?:^|\n)(?:ftps?|sftp|smb|cifs|ssh2|webdav|ogg|expect):\/\/[^\n]{1,256}\.(?:php\d?|phtml|phar|jspx?|aspx?|txt|gif|jpe?g|png|pl|py|cgi|inc|sh)\b/,
	// Address without a scheme, which takes that of the page.
	/(?:^|\n)[\\/]{2}[\w-]{1,60}(?:\.[\w-]{1,60}){1,6}[\\/][^\n ]{0,256}\.(?:txt|php\d?|phtml|jspx?|aspx?|pl|py|cgi|inc|sh)\b/,
	{ source: `addresses with ${webShells.source}`, test: (text) => webShells.test(text) && /(?:^|\n)(?:https?|ftps?):/.test(text) },
);

/**
 * `GenericSSRF`: values that are addresses of the internal network. Unused for header fields, because developers' browsers send `referer:
 * http://localhost/`.
 */
export const innerAddresses: readonly Signature[] = plain(
	innerAddress,
	/(?:^|\n)\[?(?:localhost(?:\.localdomain)?|ipv?6-(?:localhost|loopback)|localhost6(?:\.localdomain6)?|kubernetes(?:\.default)?(?:\.svc(?:\.cluster\.local)?)?|host\.docker\.internal)\]?(?::\d{1,5})?\//,
	/\.svc\.cluster\.local\b|\b(?:gopher|dict|jar|netdoc|tftp|ldapi):\/{0,2}[\w[]|(?:^|\n)unix:[^\n|]{0,400}\|/,
);

/** `EC2MetaDataSSRF`: credentials of the machine, in all spellings that resolve to the same address. */
export const metadataAddresses: readonly Signature[] = packed(
	metadataAddress,
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
