/**
 * Recognizes command lines as manuals show them (`git rebase -i HEAD~3`, `ps aux | grep node`), as opposed to injected ones. The whole
 * value must be the line, with everyday tools only. It must not query the server's identity, name system files, or fetch or run code.
 */
import type { Signature } from './signature.ts';

const tools =
	'git|gh|npm|npx|yarn|pnpm|bun|deno|node|tsc|vite|jest|eslint|pip[23]?|pipx|poetry|uv|conda|python[23]?|pytest|ruff|cargo|rustup|rustc|go|gofmt|mvn|gradle|javac?|dotnet|make|cmake|gcc|g\\+\\+|clang|docker(?:-compose)?|podman|kubectl|helm|kustomize|minikube|k9s|terraform|tofu|vagrant|packer|aws|gcloud|az|gsutil|ls|grep|egrep|rg|find|sed|awk|sort|uniq|head|tail|wc|cut|tr|less|more|diff|xargs|jq|yq|tee|cd|mkdir|touch|cp|mv|chmod|echo|printf|export|source|tar|gzip|gunzip|zip|unzip|rsync|scp|ssh|ssh-keygen|curl|wget|openssl|psql|mysql|redis-cli|sqlite3|pg_dump|ffmpeg|vim?|nano|code|tmux|screen|systemctl|journalctl|service|apt(?:-get)?|brew|yum|dnf|apk|snap|ps|top|htop|kill|df|du|free|ping|dig|nslookup|traceroute|netstat|ss|lsof|watch|time|man|which|cat|dir|findstr|tasklist|ipconfig|tree|choco|winget|k6|hey|vegeta|crontab|composer|bundle|rails|rake|gem|mix|elixir|swift|flutter|ollama|huggingface-cli|set|if \\[\\[?|then|else|fi|for [a-z]\\w{0,20} in|while (?:read|\\[\\[?)|do|done|exit|test|\\[\\[?';
const readingCmdlet =
	'(?:(?:powershell|pwsh)(?:\\.exe)? )?(?:get|select|sort|where|measure|format|group|compare)-[a-z]{3,20}(?: [\\w .*"\',:=-]{1,80})?';
/** Programs that take a pattern or a program, which has separators of its own. */
const filters = 'grep|egrep|rg|sed|awk|jq|yq|do|\\[\\[?';
const inPattern = '(?:[^\\n;|&]|(?<=[\\w)$/"\'])[|;](?=[\\w(/"\']))';
/** One program with its arguments. A look-ahead gives nothing back once it has matched, so that the time stays linear. */
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
		// Code from an address; a program that asks who and where, behind one that runs it.
		'\\b(?:npm|npx|yarn|pnpm|bun|pip[23]?|pipx|uv|gem|brew|deno|go|kubectl|cargo)\\b[^\\n;|&]{0,120}\\w:\\/\\/',
		'\\b(?:sudo|time|watch|xargs|do|then|else|exec)(?: -{1,2}\\S{0,20}| [\\d.]{1,6}| \\w{1,20} --)* ["\']?(?:id|whoami|who|last|uname|groups|getent|rm)(?:$|["\') ;|&])|\\b(?:nsenter|chroot|unshare)\\b|--pid[= ]host',
		'(?:^|[;|&] ?)(?:export|declare|compgen|alias) ?(?:$|[;|&>])|(?:^|[;|&] ?)(?:ld_\\w{1,16}|bash_env|path|prompt_command|git_\\w{1,24}|pager|editor|ifs|env|shellopts|ps4|\\w{0,10}opts?)=|^(?:ls|rm|chmod|chown|rmdir) \\w{1,20} \\w{1,20}$',
		'\\/\\?|\\?\\/|\\?{2}|(?:^|[ =])\\/[\\w.]{0,20}[*?[]',
	].join('|'),
);
/** A second program without arguments is what is tried behind a first on servers that run what they are sent. */
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

/** Limits signatures to text that is not a command line of a manual. */
export function beyondManuals(signatures: readonly Signature[]): readonly Signature[] {
	return signatures.map((signature) => {
		const { pattern } = signature;
		const test = (text: string): boolean => pattern.test(text) && pattern.test(withoutManuals(text));
		return { ...signature, pattern: { source: pattern.source, test } };
	});
}
