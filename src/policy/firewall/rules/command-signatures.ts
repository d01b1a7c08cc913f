/** `UNIXShellCommandsVariables` and `WindowsShellCommands`: what a shell would take for a command. */
import { unixCommandLine, windowsCommandLine } from './command-injection.ts';
import { beyondManuals } from './manual-line.ts';
import { plain, raw, type Signature, unquoted } from './signature.ts';

/** Tools that run another program, or read and write what a server keeps: they do so in a line of a manual too. */
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
			// Names put together from patterns: `/b??/c?t`, `/bin/c[a]t`.
			/\/[\w.]{1,30}\[[a-z!^?*/-]{1,24}\][\w/]|\/\[[a-z!^?*/-]{1,24}\]\w/,
			/\/[\w.]{0,30}\?[\w?]{0,30}\/[\w.]{0,30}\?|(?<![\w.*:}])\/(?:\?{1,20}|\*{1,3})\/[\w?*]/,
			/(?<![\w.*:}])\/[\w]{0,10}\*[\w*]{0,10}\/[\w]{0,10}[*?]/,
		),
		...plain(
			// Selectors of pages are written like substitutions.
			/\$\((?! ?(?:['"][#.[]|(?:document|window|this|el|element)\))) ?[^)\n]|(?:^|[\n ;|&=])[<>]\( ?[a-z]|\$\[ ?[\w$(][^\n\]"']{0,40}[-+*/%]|\$\(\(/,
			// A name alone in braces is a placeholder; what shells do to a variable is not.
			/\$\{(?!\{? ?[a-z_][\w-]{0,40}(?: ?\. ?[\w-]{1,40}){0,5} ?\})(?:[^\n}$]|\$(?!\{)){1,60}\}|\$\{[a-z_]{2,30}[:#%/]/,
			/(?<![\w$])\(\) ?\{/,
			/(?:^|\n)~[-+](?:\d|\n|$)|(?:^|\n)!-?\d/,
			/\$(?:shell|ifs|bash|ps1|random|hostname)\b|\$\{?ifs|(?:^|[;|&`\n(]) ?\$(?:home|path|pwd|user)\b(?!\/[\w./-]{1,60}$|[: ]|$|\n)|[;|&`(]\$(?:home|path|pwd|user)\b|(?<=[\w'"/}`;|&(])\$[@*#?!$]\W/,
			/[;&|\n] ?[a-z_]\w{0,20}=[^;&|\n ]{1,40}[;&] ?[^\n]{0,40}\$[a-z_{]|(?:^|\n)[a-z_]\w{0,20}=[^;&|\n ]{0,40}; ?[^\n]{0,60}\$[a-z_{]/,
			// Variables of shells, and sums of nothing.
			/\$\{ ?(?:shell|ifs|bash\w{0,20}|ps[124]|random|hostname|hosttype|machtype|ostype|e?uid|ppid|lineno|seconds|shlvl|oldpwd|shellopts) ?\}|\$\[ ?\]|\$'\\(?:x[0-9a-f]{2}|[0-7]{3})/,
		),
	]),
];

/** Cmdlets of PowerShell: a verb that it knows, and what it knows things by. */
const cmdlet =
	/\b(?:add|clear|compare|connect|convertfrom|convertto|copy|disable|enable|enter|exit|expand|export|find|foreach|format|get|import|install|invoke|join|measure|mount|move|new|out|pop|push|read|receive|register|remove|rename|resolve|restart|restore|save|select|send|set|show|sort|split|start|stop|suspend|tee|test|trace|unblock|unregister|update|use|wait|where|write)-(?:acl|ad(?:user|computer|group|groupmember|domain|forest|principal)|alias|appxpackage|authenticodesignature|bitstransfer|childitem|ciminstance|cimmethod|clipboard|clixml|command|computer(?:info|restore)?|connection|content|counter|credential|culture|diagnostic|dnsclient\w{0,20}|dnsname|event(?:log|subscriber)?|executionpolicy|expandarchive|expression|file|filehash|firewall\w{0,20}|gridview|help|history|host|hotfix|item|itemproperty|itemtype|job|localgroup(?:member)?|localuser|location|mailbox|mailmessage|member|module|mppreference|netadapter|netfirewall\w{0,20}|netipaddress|netipconfiguration|netneighbor|nettcpconnection|null|object|output|package|path|printer|process|psbreakpoint|psdrive|psprovider|pssession|psreadlineoption|random|recyclebin|registry\w{0,20}|restmethod|runspace|scheduledjob|scheduledtask\w{0,20}|securestring|service|smbshare|smbmapping|string|type|typedata|unique|variable|volume|webclient|webrequest|winevent|wmi(?:object|method|event)|wsman\w{0,20}|xml)\b/;

/** Others as they are written: a verb that changes something, and a thing of several words. */
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
