/** `UNIXShellCommandsVariables` and `WindowsShellCommands`: what a shell would take for a command. */
import { plain, type Signature, unquoted } from './signature.ts';

/** Commands whose names are words of no language. */
const oddCommands =
	'whoami|ifconfig|ipconfig|uname|netstat|nslookup|chmod|chown|chgrp|crontab|xterm|busybox|tcpdump|iptables|printenv|mkfifo|passthru|ncat|netcat|useradd|adduser|systemctl|lsb_release|traceroute';

/** Commands that count only where a command may begin. */
const commands =
	'aa-exec|ab|alias|apt|apt-get|arch|aria2c|arj|arp|ash|awk|base64|bash|bg|bzip2|cat|cc|chmod|chown|cp|cpan|cpio|crash|csh|csvtool|cupsfilter|curl|cut|dash|dd|dig|dir|dmesg|dmidecode|dmsetup|dnf|docker|dpkg|du|echo|easy_install|ed|egrep|emacs|env|eval|exec|expr|fc|fgrep|find|finger|fish|flock|fmt|fold|foreach|ftp|gawk|gcc|gdb|gem|getent|ghc|git|grep|gunzip|gzip|head|hexdump|host|hostname|id|ionice|ip|irb|kill|kill|killall|ksh|ld\\.so|ldconfig|last|less|ln|ls|lsof|lua|lwp-request|mail|mawk|mkdir|mknod|mktemp|modprobe|more|mosquitto|msfconsole|mtr|mysql|mysqldump|mount|mv|nano|nc|nice|nl|nmap|node|npm|nroff|nsenter|nohup|od|openssl|openvpn|paste|pax|pdksh|perl|php\\d?|ping|pip|pkexec|pkill|printf|ps|psql|pwd|python[\\d.]{0,4}|rm|rmdir|route|rsync|rpm|ruby|run-parts|rview|scp|screen|script|sed|service|set|sftp|sh|shutdown|sleep|socat|sort|ss|ssh|strace|stdbuf|strings|su|sudo|systemctl|tac|tail|tar|tclsh|tee|telnet|taskset|tftp|time|tmux|timeout|touch|top|umask|unlink|uname|unset|unshare|unzip|useradd|uptime|valgrind|vi|view|vim|vipw|watch|w|wc|wget|which|who|whois|wish|xargs|xelatex|xmodmap|xterm|xxd|yarn|yum|zcat|zgrep|zypper|zip|zsh';

export const unixCommands: readonly Signature[] = [
	...unquoted(
		new RegExp(`\\b(?:${oddCommands})\\b(?! (?:is|was|and|or|can|will|the|to)\\b)`),
		new RegExp(
			`(?:[;|&\`{(]|(?:^|\\n);|&&|\\|\\||\\$\\() ?(?:sudo |time |nohup |exec )?(?:/(?:usr/|bin/|local/|sbin/){1,4})?(?:${commands})(?:$|[\\n ;|&<>\`(){}$]|\\) ?[\\d;|&<>])(?! ?=)(?!(?:and|or|the|schedule)\\b)`,
		),
		/(?:^|[\n ;|&`(=/])(?:usr\/|local\/|sbin\/){0,3}bin\/[a-z]/,
		/\/dev\/(?:tcp|udp|fd|null|shm|random|zero)\b/,
		/(?:^|[\n ;|&(=])(?:ba|da|k|z|c|tc|a)?sh(?:\$[a-z@*]{1,8})? (?:-[a-z]{1,4} (?!echo test)|<|\/|\|)/,
		/(?:^|\n)(?:ls|cat|rm|cp|mv|chmod|tail|head|more|less|nl|tac) (?:-|\/|\.|~|\w{1,20} \w{1,20}(?:$|\n))/,
		/\b(?:wget|curl|lynx|fetch) (?:-[a-z-]{1,20} ){0,4}(?:https?|ftp):/,
		/\b(?:nc|ncat|netcat|socat) (?:-[a-z]{1,6} |tcp|udp|\d{1,3}\.)/,
		/\b(?:python[\d.]{0,4}|perl|ruby|php\d?|node|lua) -[cermi] ?[^ ]/,
		/\bbase64 (?:-d|--decode|-w)|\|(?: ?)(?:ba|z|k|da)?sh\b|\bxxd -r\b|\bfind [^\n]{1,40} -(?:exec|name|type|perm)\b/,
	),
	...plain(
		/\$\( ?[^)\n]|[<>]\( ?[a-z]|\$\[[^\n]|\$\(\(/,
		/\$\{(?:[^\n}$]|\$(?!\{)){1,60}\}|\$\{[a-z_]{2,30}[:#%/]/,
		/`[^`\n]{0,20}\b(?:id|ls|cat|whoami|uname|ps|pwd|env|curl|wget|sh|bash|nc|ping|sleep|echo|rm)\b[^`\n]{0,60}`/,
		/\/[\w.]{0,30}\[[^\]\n]{1,24}\][\w/]/,
		/\/[\w.]{0,30}\?[\w?]{0,30}\/[\w.]{0,30}\?|\/(?:\?{1,20}|\*{1,3})\/[\w?*]/,
		/\(\) ?\{/,
		/\balias [\w.]{1,30}=/,
		/\{,? ?[a-z/]{1,30},[^\n}:"]{0,60}\}|\{,[a-z]/,
		/(?:^|\n)~[-+](?:\d|\n|$)|(?:^|\n)!-?\d/,
		/\$(?:shell|ifs|home|path|pwd|bash|user|ps1|random|hostname)\b|\$\{?ifs|\$[@*#?!$]\W/,
	),
];

const windowsPrograms =
	'regedit|bcdboot|bcdedit|bitsadmin|certutil|cmstp|cscript|wscript|diskpart|dsquery|fsutil|icacls|ipconfig|mshta|msiexec|netsh|ntdsutil|powershell|pwsh|psexec|regsvr32|robocopy|rundll32|schtasks|systeminfo|taskkill|tasklist|vssadmin|wevtutil|wmic|xcopy|cmd\\.exe|cmd /c|command\\.com';

/** Programs of Windows that count only after another command: some are named like other things. */
const chainedPrograms =
	'addinutil|arp|assoc|at|attrib|cacls|certreq|chkdsk|cipher|cmd|cmdkey|cmdl32|control|csc|cscli|csvde|defrag|del|desktopimgdownldr|devcon|dfsvc|dir|diskshadow|dnscmd|doskey|driverquery|dxcap|erase|esentutl|eventcreate|eventvwr|expand|explorer|extexport|extrac32|fc|findstr|finger|fltmc|forfiles|ftp|ftype|getmac|gpresult|gpscript|gpupdate|hostname|icacls|ie4uinit|iediagcmd|ilasm|infdefaultinstall|installutil|jsc|ldifde|logoff|makecab|mavinject|md|mklink|mmc|mountvol|msbuild|msconfig|msdt|mstsc|nbtstat|net|net1|nltest|odbcconf|offlinescannershell|openfiles|pathping|pcalua|pcwrun|ping|pktmon|pnputil|popd|presentationhost|print|printbrm|pushd|quser|qwinsta|rasautou|rd|rdrleakdiag|reg|regasm|regini|register-cimprovider|regsvcs|ren|rpcping|runas|runonce|runscripthelper|rwinsta|sc|scriptrunner|sdbinst|setx|sfc|shutdown|ssh|start|subst|syncappvpublishingserver|takeown|tracert|tracerpt|tscon|ttdinject|tttracer|type|vbc|ver|verclsid|vol|w32tm|wab|wbadmin|wecutil|where|whoami|winget|winrm|winrs|wlrmdr|workfolders|wsl|wsreset|wuauclt|xwizard';

export const windowsCommands: readonly Signature[] = [
	...plain(
		/\bfor (?:\/[dflr] ){0,4}[^%\n]{0,60}%%?[^%\n]{0,12} in ?\(/,
		/\bif (?:\/i )?(?:not )?(?:\(? ?)(?:exist|defined|errorlevel|cmdextversion) ?[\w"%(]/,
		/\bif (?:\/i )?(?:not )?[^\n]{1,40}(?:==| (?:equ|neq|lss|leq|gtr|geq) )/,
		/%(?:comspec|systemroot|windir|userprofile|programfiles|appdata|temp|os|username)%/,
		/\b(?:iwr|irm|iwmi|invoke-(?:webrequest|restmethod|expression|command|item|wmimethod)|iex) (?:-|\(|['"$]|https?:)/,
		/\b(?:new-object|downloadstring|downloadfile|start-process|get-wmiobject|set-executionpolicy|add-type|convertto-securestring|out-file|frombase64string) ?[( -]/,
		/\b-e(?:nc|ncodedcommand)? [a-z0-9+/=]{20}|\[(?:system\.|convert\]|reflection\.)/,
	),
	...unquoted(new RegExp(`[;|&\`] ?(?:${chainedPrograms})(?:\\.(?:exe|com|bat))?(?:$|[\\n ;|&<>/])`)),
	...unquoted(new RegExp(`(?:^|[;|&\\n(=]) ?(?:${windowsPrograms})(?:$|[\\n /;|&<>.])`)),
];
