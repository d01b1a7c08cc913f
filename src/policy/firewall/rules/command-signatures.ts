/** Signatures of shell commands: `UNIXShellCommandsVariables` and `WindowsShellCommands`. */
import { unixCommandLine, windowsCommandLine } from './command-injection.ts';
import { plain, raw, type Signature, unquoted } from './signature.ts';

const tools =
	'git|gh|npm|npx|yarn|pnpm|bun|deno|node|tsc|vite|jest|eslint|pip[23]?|pipx|poetry|uv|conda|python[23]?|pytest|ruff|cargo|rustup|rustc|go|gofmt|mvn|gradle|javac?|dotnet|make|cmake|gcc|g\\+\\+|clang|docker(?:-compose)?|podman|kubectl|helm|kustomize|minikube|k9s|terraform|tofu|vagrant|packer|aws|gcloud|az|gsutil|ls|grep|egrep|rg|find|sed|awk|sort|uniq|head|tail|wc|cut|tr|less|more|diff|xargs|jq|yq|tee|cd|mkdir|touch|cp|mv|chmod|echo|printf|export|source|tar|gzip|gunzip|zip|unzip|rsync|scp|ssh|ssh-keygen|curl|wget|openssl|psql|mysql|redis-cli|sqlite3|pg_dump|ffmpeg|vim?|nano|code|tmux|screen|systemctl|journalctl|service|apt(?:-get)?|brew|yum|dnf|apk|snap|ps|top|htop|kill|df|du|free|ping|dig|nslookup|traceroute|netstat|ss|lsof|watch|time|man|which|cat|dir|findstr|tasklist|ipconfig|tree|choco|winget|k6|hey|vegeta|crontab|composer|bundle|rails|rake|gem|mix|elixir|swift|flutter|ollama|huggingface-cli|set|if \\[\\[?|then|else|fi|for [a-z]\\w{0,20} in|while (?:read|\\[\\[?)|do|done|exit|test|\\[\\[?';
const readingCmdlet =
	'(?:(?:powershell|pwsh)(?:\\.exe)? )?(?:get|select|sort|where|measure|format|group|compare)-[a-z]{3,20}(?: [\\w .*"\',:=-]{1,80})?';
/** Programs whose argument is a pattern or a program, which has its own separators. */
const filters = 'grep|egrep|rg|sed|awk|jq|yq|do|\\[\\[?';
const inPattern = '(?:[^\\n;|&]|(?<=[\\w)$/"\'])[|;](?=[\\w(/"\']))';
/** One program with its arguments. A look-ahead does not backtrack after its match, so the time stays linear. */
const program = `(?:(?:${filters}) ${inPattern}{1,160}|(?:${tools})(?![^ \\n;|&])(?: [^\\n;|&]{1,160})?|${readingCmdlet})`;
const command = (group: number): string => `(?:sudo )?(?:[a-z_]{1,30}=[^ ;|&]{0,40} ){0,3}(?=(${program}))\\${group}`;
const line = new RegExp(`^(?:[$>] )?${command(1)}(?: ?(?:\\|\\|?|&&|;) ?${command(2)}){0,5}$`);

const systemDirectory = '(?:^|[ =:<>"\'@])/(?:$|[ *?:]|(?:etc|proc|sys|boot|root|dev/(?!null)|var|home|tmp|opt|srv|lib|mnt|run)\\b)';
const foreign = new RegExp(
	[
		systemDirectory,
		// Substitutions, except the working directory, dates, the number of processors and git.
		'\\$\\((?!(?:pwd|nproc|date(?: \\+[\\w%-]{1,20})?|git [\\w -]{1,40})\\))|[`\\r]|[<>]\\(|\\$\\{|\\$ifs|\\{[^ }\\n]{0,40},',
		'\\b(?:passwd|shadow|id_rsa|authorized_keys)\\b|\\.(?:ssh|aws|env|php\\d?|jspx?|aspx?)\\b|\\.\\.\\/\\.\\.|\\bwin\\.ini\\b',
		'(?:^|[ ="\'])[a-z]:|\\\\\\\\|%[a-z_]{2,30}%',
		'\\b(?:curl|wget)\\b[^\\n]{0,160}(?:\\w:\\/\\/|[ =]@|\\w\\.(?!json|txt|html?|gz|zip|log|csv|pem|out)\\w)|\\b(?:ftp|gopher|tcp|udp|file|dict):|\\b\\d{1,3}(?:\\.\\d{1,3}){3}\\b',
		'\\/dev\\/tcp|(?<!\\b(?:exec|run) [^\\n;|&]{1,60})\\/bin\\/|\\b(?:ba|da|z|k|c|tc)?sh -|> ?\\/(?!dev\\/null)|\\bbase64\\b|\\bxxd\\b',
		'\\b(?:nc|ncat|netcat|socat|telnet|whoami|uname|env|printenv|hostname|ifconfig|passthru)\\b|(?:^|[;|&] ?)(?:id\\b|set ?(?:$|[;|&]))|\\|\\s?(?:ba|da|z|k)?sh\\b|(?<!-)\\brm -',
		'\\b(?:python|perl|ruby|node|php|deno|bun)[\\d.]{0,4} -[a-z]{0,3}[cer]\\b|\\bfind\\b[^\\n]{0,100}-(?:exec|perm|delete|ok|fprint|fls)|\\b(?:awk|xargs|find)\\b[^\\n]{0,100}(?:system|getline|\\bsh\\b|\\/inet)',
		// Options and variables by which a tool runs another program.
		'(?:^| )--?(?:exec|eval|print|require|import|upload-pack|receive-pack|open-files-in-pager|to-command|checkpoint-action|use-compress-prog\\w*|compress-prog\\w*|rsh|rsync-path|pager|wrapper|script-shell|info-script|new-volume-script)\\b|proxycommand|localcommand|\\bcurl [^\\n;|&]{0,80}--config\\b|-engine\\b|\\bssh [^\\n;|&]{0,60}-[fr] |\\bgit -c (?!user\\.|color\\.|advice\\.)',
		'(?:\\+|:|=|-[a-z]{1,3} ?)["\']?\\\\?! ?[a-z]|\\bnpx? (?:exec )?-c\\b|\\bset-script\\b|\\bdeno eval\\b|\\bpython[\\d.]{0,4} -m (?:http\\.server|pty|code|pdb|runpy|timeit|trace|cprofile|smtpd|webbrowser)\\b|\\bvim? [^\\n;|&]{0,80}-(?:c|-cmd|s|u)\\b|\\bman -(?:p|h|-pager|-html)\\b',
		'\\btar [^\\n;|&]{0,80}-i |\\bzip [^\\n;|&]{0,80}-tt|\\brsync [^\\n;|&]{0,80}-[a-z]{0,6}e (?!["\']?ssh\\b)|\\bscreen [^\\n;|&]{0,60}-(?:dm\\w{0,2}|x) |\\btmux [^\\n;|&]{0,60}-d ["\']?[a-z]|\\bping (?:-\\S{1,10} |\\d{1,5} )*(?!(?:www\\.)?(?:example\\.(?:com|org|net)|google\\.com|cloudflare\\.com|github\\.com)(?:$|[\\n ;|&]))[\\w.-]{1,80}\\.[a-z]',
		// Code from an address; a program that queries the server's identity, after one that runs it.
		'\\b(?:npm|npx|yarn|pnpm|bun|pip[23]?|pipx|uv|gem|brew|deno|go|kubectl|cargo)\\b[^\\n;|&]{0,120}\\w:\\/\\/',
		'\\b(?:sudo|time|watch|xargs|do|then|else|exec)(?: -{1,2}\\S{0,20}| [\\d.]{1,6}| \\w{1,20} --)* ["\']?(?:id|whoami|who|last|uname|groups|getent|rm)(?:$|["\') ;|&])|\\b(?:nsenter|chroot|unshare)\\b|--pid[= ]host',
		'(?:^|[;|&] ?)(?:export|declare|compgen|alias) ?(?:$|[;|&>])|(?:^|[;|&] ?)(?:ld_\\w{1,16}|bash_env|path|prompt_command|git_\\w{1,24}|pager|editor|ifs|env|shellopts|ps4|\\w{0,10}opts?)=|^(?:ls|rm|chmod|chown|rmdir) \\w{1,20} \\w{1,20}$',
		'\\/\\?|\\?\\/|\\?{2}|(?:^|[ =])\\/[\\w.]{0,20}[*?[]',
	].join('|'),
);
/** Second programs without arguments, which attackers append to test whether a server executes input. */
const bareSecond =
	/^test ?[&|]|\| ?(?:ssh|scp|rsync)\b|^(?!make\b)[\w-]{1,20} ?;|[;&|] ?(?:ls|cat|dir|ps|ping|tasklist|ipconfig|netstat|curl|wget|dig|nslookup|find)(?:$| ?[;|&])/;

function isLineOfManual(text: string): boolean {
	if (text.length > 400 || foreign.test(text) || bareSecond.test(text)) return false;
	return line.test(text.replace(/ ?\d?>&\d/g, ''));
}

function withoutManuals(text: string): string {
	return text
		.split('\n')
		.map((own) => (own.includes(' ') && isLineOfManual(own.trim()) ? '' : own))
		.join('\n');
}

/**
 * Limits signatures to text that is not a command line as manuals show them (`git rebase -i HEAD~3`, `ps aux | grep node`). The whole value
 * must be the line, with everyday tools only. It must not query the server's identity, name system files, or fetch or run code.
 */
export function beyondManuals(signatures: readonly Signature[]): readonly Signature[] {
	return signatures.map((signature) => {
		const { pattern } = signature;
		const test = (text: string): boolean => pattern.test(text) && pattern.test(withoutManuals(text));
		return { ...signature, pattern: { source: pattern.source, test } };
	});
}

/** Tools that run another program, or access files of the server, also in a line of a manual. */
const toolsThatRun = unquoted(
	/\bg?awk [^\n]{0,100}(?:\bsystem ?\(|\| ?getline|\bgetline ?<|print ?\| ?[a-z])/,
	/\bsed [^\n]{0,30}\bs([/|#,@~!:])(?:(?!\1)[^\n]){1,60}\1(?:(?!\1)[^\n]){0,60}\1[gimp\d]{0,4}e(?:$|[\n ;])|\bsed (?:-[a-z]{1,4} )?\d{1,4}[ew] ?[a-z/]/,
	/\bfind [^\n]{0,100}-(?:fprintf?|fls) |\btar [^\n;|&]{0,80}(?:--to-command|--checkpoint-action|--use-compress-prog| -i [a-z]{1,12}(?:$|[\n ;]))|\bzip [^\n;|&]{0,80}-tt |\brsync [^\n;|&]{0,80}-[a-z]{0,6}e (?:ba|da)?sh\b/,
	/\bdocker [^\n;|&]{0,80}-v ?\/(?:etc|root|proc|boot|dev|home)?\/?:|(?:^|[\n;|&`(])\{[a-z]{2,12},[-/][^ \n{}]{1,40}\}/,
	/\bgit (?:bisect run|submodule foreach|difftool -x|(?:rebase|ls-remote|clone|fetch|archive) [^\n;|&]{0,60}(?:-x |--exec\b|\bext::)|rebase -x) ?\S|\bscript-shell[ =]|\brg [^\n;|&]{0,60}--pre[ =]|(?:^|[\n;|&] ?)nohup (?:id|whoami|uname|hostname|env)\b/,
	/\balias\.[\w-]{1,20}[ =]!|\bless [^\n;|&]{0,60}\+!|\bdeno eval\b|\b(?:gcc|g\+\+|c[89]9|cc|clang) [^\n;|&]{0,60}-wrapper |\bset-script \w{1,20} \w/,
	/\b(?:psql|mysql|mariadb|sqlite3?)\b[^\n]{0,100}(?:-[a-z]{1,3} ?! ?[a-z]|-[a-z]{1,3} ?system [a-z]|\.(?:shell|system) [a-z]|\b(?:from|to) program\b)/,
	/\b(?:cat|tac|head|tail)(?: -[\w-]{1,12}| [\w~*-]{0,40}[./][\w./~*-]{0,60}){0,5} [\w./~*-]{0,80}(?:\.(?:php\d?|phtml|jspx?|aspx?|env|htpasswd|htaccess|pem|bash_history|git-credentials)|id_rsa)(?:$|[\n ;|&>])/,
	/(?<=[a-z] ?\S{0,60} ?)> ?[\w./-]{0,60}\.(?:php\d?|phtml|jspx?|aspx?|cgi)(?:$|[\n ;|&])/,
	/\bchmod (?:-r )?(?:[2-7]\d{3}|[ugoa]{0,3}\+[rwx]{0,3}s)\b|(?:^|[\n ;|&])(?:ld_preload|ld_audit|bash_env|git_ssh_command|git_external_diff)=[^\n ]{1,80} [a-z]/,
	/\becho \$\{?\w{0,40}(?:secret|passw|credential|private_key)/,
	/(?:^|[\n;|&`(])\$\{[a-z_]\w{0,30}\} -[a-z]/,
);

export const unixCommands: readonly Signature[] = [
	...toolsThatRun,
	...beyondManuals([
		...unquoted(
			unixCommandLine,
			/(?:^|[\n ;|&`(=<>$}"'])\/(?:usr\/(?:local\/)?)?s?bin\/[a-z]|(?:^|[\n;|&`])(?:usr\/(?:local\/)?)?s?bin\/[a-z]/,
			/(?:^|\n)(?:ls|rm|chmod|chown|mkdir|rmdir) (?!(?:is|vs|and|or|not|the|in|for|to|command|without|with|all)\b)\w{1,20} (?!(?:is|vs|and|or|not|the|in|for|to|command|files?|error|failed)\b)\w{1,20}(?:$|\n)/,
			/\/dev\/(?:tcp|udp|fd|null|shm|random|zero)\b/,
			/\b(?:python[\d.]{0,4}|perl|ruby|php\d?|node|lua) -[a-z]{0,6}[cermi] ?[^ ]/,
			/\bbase64 (?:-d|--decode|-w)|\|(?: ?)(?:ba|z|k|da)?sh\b|\bxxd -r\b|\bfind [^\n]{1,40} -(?:exec|name|type|perm)\b/,
			/\balias (?:-p )?[\w.]{1,30}=/,
			// Names composed of patterns: `/b??/c?t`, `/bin/c[a]t`.
			/\/[\w.]{1,30}\[[a-z!^?*/-]{1,24}\][\w/]|\/\[[a-z!^?*/-]{1,24}\]\w/,
			/\/[\w.]{0,30}\?[\w?]{0,30}\/[\w.]{0,30}\?|(?<![\w.*:}])\/(?:\?{1,20}|\*{1,3})\/[\w?*]/,
			/(?<![\w.*:}])\/[\w]{0,10}\*[\w*]{0,10}\/[\w]{0,10}[*?]/,
		),
		...plain(
			// Selectors of pages are written like substitutions.
			/\$\((?! ?(?:['"][#.[]|(?:document|window|this|el|element)\))) ?[^)\n]|(?:^|[\n ;|&=])[<>]\( ?[a-z]|\$\[ ?[\w$(][^\n\]"']{0,40}[-+*/%]|\$\(\(/,
			// A name alone in braces is a placeholder; expansion operators of shells are not.
			/\$\{(?!\{? ?[a-z_][\w-]{0,40}(?: ?\. ?[\w-]{1,40}){0,5} ?\})(?:[^\n}$]|\$(?!\{)){1,60}\}|\$\{[a-z_]{2,30}[:#%/]/,
			/(?<![\w$])\(\) ?\{/,
			/(?:^|\n)~[-+](?:\d|\n|$)|(?:^|\n)!-?\d/,
			/\$(?:shell|ifs|bash|ps1|random|hostname)\b|\$\{?ifs|(?:^|[;|&`\n(]) ?\$(?:home|path|pwd|user)\b(?!\/[\w./-]{1,60}$|[: ]|$|\n)|[;|&`(]\$(?:home|path|pwd|user)\b|(?<=[\w'"/}`;|&(])\$[@*#?!$]\W/,
			/[;&|\n] ?[a-z_]\w{0,20}=[^;&|\n ]{1,40}[;&] ?[^\n]{0,40}\$[a-z_{]|(?:^|\n)[a-z_]\w{0,20}=[^;&|\n ]{0,40}; ?[^\n]{0,60}\$[a-z_{]/,
			// Variables of shells, and sums without operands.
			/\$\{ ?(?:shell|ifs|bash\w{0,20}|ps[124]|random|hostname|hosttype|machtype|ostype|e?uid|ppid|lineno|seconds|shlvl|oldpwd|shellopts) ?\}|\$\[ ?\]|\$'\\(?:x[0-9a-f]{2}|[0-7]{3})/,
		),
	]),
];

/** Cmdlets of PowerShell: an approved verb, and a noun of PowerShell. */
const cmdlet =
	/\b(?:add|clear|compare|connect|convertfrom|convertto|copy|disable|enable|enter|exit|expand|export|find|foreach|format|get|import|install|invoke|join|measure|mount|move|new|out|pop|push|read|receive|register|remove|rename|resolve|restart|restore|save|select|send|set|show|sort|split|start|stop|suspend|tee|test|trace|unblock|unregister|update|use|wait|where|write)-(?:acl|ad(?:user|computer|group|groupmember|domain|forest|principal)|alias|appxpackage|authenticodesignature|bitstransfer|childitem|ciminstance|cimmethod|clipboard|clixml|command|computer(?:info|restore)?|connection|content|counter|credential|culture|diagnostic|dnsclient\w{0,20}|dnsname|event(?:log|subscriber)?|executionpolicy|expandarchive|expression|file|filehash|firewall\w{0,20}|gridview|help|history|host|hotfix|item|itemproperty|itemtype|job|localgroup(?:member)?|localuser|location|mailbox|mailmessage|member|module|mppreference|netadapter|netfirewall\w{0,20}|netipaddress|netipconfiguration|netneighbor|nettcpconnection|null|object|output|package|path|printer|process|psbreakpoint|psdrive|psprovider|pssession|psreadlineoption|random|recyclebin|registry\w{0,20}|restmethod|runspace|scheduledjob|scheduledtask\w{0,20}|securestring|service|smbshare|smbmapping|string|type|typedata|unique|variable|volume|webclient|webrequest|winevent|wmi(?:object|method|event)|wsman\w{0,20}|xml)\b/;

/** Other cmdlets in their usual spelling: a verb that changes something, and a noun of several words. */
const camelCmdlet =
	/(?<![\w-])(?:Add|Clear|Complete|Confirm|Connect|Convert|ConvertFrom|ConvertTo|Copy|Debug|Disable|Disconnect|Dismount|Enable|Enter|Exit|Expand|Export|Find|Grant|Import|Initialize|Install|Invoke|Join|Limit|Lock|Merge|Mount|Move|New|Open|Optimize|Out|Pop|Protect|Publish|Push|Read|Receive|Register|Remove|Rename|Repair|Request|Reset|Resize|Resolve|Restart|Restore|Resume|Revoke|Save|Search|Send|Set|Show|Split|Start|Stop|Submit|Suspend|Switch|Sync|Test|Trace|Unblock|Undo|Uninstall|Unlock|Unprotect|Unpublish|Unregister|Update|Use|Wait|Watch|Write)-(?:[A-Z][a-z]{1,16}|[A-Z]{2,4}(?=[A-Z]))[A-Z][A-Za-z]{2,30}/;

export const windowsCommands: readonly Signature[] = beyondManuals([
	...raw(camelCmdlet),
	...plain(
		/\bfor (?:\/[dflr] ){0,4}[^%\n]{0,60}%%?[^%\n]{0,12} in ?\(/,
		/\bif (?:\/i )?(?:not )?(?:\(? ?)(?:exist(?!s\b|ing\b|ed\b) ?[\w"%(.\\]|(?:defined|errorlevel|cmdextversion) ?(?:["%(\\\d]|[a-z]:|\w{1,40} ?\())/,
		/\bif (?:\/i )?(?:not )?[^\n =]{1,40} ?(?:==|(?: (?:equ|neq|lss|leq|gtr|geq) )) ?[^\n ](?![^\n]{0,120}[:{] ?(?:$|\n))(?!\S{0,40}(?: (?:and|or|then|return|&&|\|\|) ?[^\n]{0,60})?(?:\n|$))/,
		/\bif (?:\/i )?(?:not )?(?:defined|errorlevel) \w{1,40} \w/,
		/%(?:comspec|systemroot|windir|userprofile|programfiles|appdata|temp|tmp|os|username|path|pathext|systemdrive|homepath|computername|allusersprofile|programdata|localappdata|logonserver|userdomain)(?:%|:~)/,
		/\b[a-z]{3,8}-[a-z]{3,20} (?:-[a-z]{1,16} )?\\{2}[\w.-]{1,60}\\/,
		/\b(?:iwr|irm|iwmi|iex|gwmi|gcim|gci|sajb|saps) ?(?:-[a-z]|\(|['"$]|https?:)/,
		/\b(?:downloadstring|downloadfile|downloaddata|uploadstring|frombase64string|shellexecute|runhtmlapplication|getobject) ?[( "']|\b(?:new-object|add-type) /,
		/\b-e(?:nc|nco[a-z]{0,9}|c)? [a-z0-9+/=]{20}|\[(?:system\.|convert\]|reflection\.|io\.file|net\.|text\.encoding|activator\]|diagnostics\.|runtime\.)/,
		/\bset [a-z]{1,12}=[^\n]{1,60}&[^\n]{0,40}%[a-z]/,
	),
	...unquoted(
		windowsCommandLine,
		cmdlet,
		/(?:^|[\n ;|&(=\\/"])(?:cmd|command)(?:\.exe|\.com)? ?\/[a-z]{1,2}(?:$|[\n ":/])|[\\/](?:cmd|powershell|pwsh|wscript|cscript|mshta|rundll32|regsvr32)\.exe\b/,
	),
]);
