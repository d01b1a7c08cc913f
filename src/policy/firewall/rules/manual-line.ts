/**
 * Tells a command line as manuals have it (`git rebase -i HEAD~3`, `ps aux | grep node`) from one that was put behind a value. The whole value
 * is the line, so that it ends nothing; each program in it is an everyday tool; and it neither asks who and where the server is, nor names
 * the system's files, nor fetches or runs what lies elsewhere.
 */
import type { Signature } from './signature.ts';

const tools =
	'git|gh|npm|npx|yarn|pnpm|bun|deno|node|tsc|vite|jest|eslint|pip[23]?|pipx|poetry|uv|conda|python[23]?|pytest|ruff|cargo|rustup|rustc|go|gofmt|mvn|gradle|javac?|dotnet|make|cmake|gcc|g\\+\\+|clang|docker(?:-compose)?|podman|kubectl|helm|kustomize|minikube|k9s|terraform|tofu|ansible(?:-playbook)?|vagrant|packer|aws|gcloud|az|gsutil|ls|grep|egrep|rg|find|sed|awk|sort|uniq|head|tail|wc|cut|tr|less|more|diff|xargs|jq|yq|tee|cd|mkdir|touch|cp|mv|chmod|echo|printf|export|source|tar|gzip|gunzip|zip|unzip|rsync|scp|ssh|ssh-keygen|curl|wget|openssl|psql|mysql|redis-cli|sqlite3|pg_dump|ffmpeg|vim?|nano|code|tmux|screen|systemctl|journalctl|service|apt(?:-get)?|brew|yum|dnf|apk|snap|ps|top|htop|kill|df|du|free|ping|dig|nslookup|traceroute|netstat|ss|lsof|watch|time|man|which|cat|dir|findstr|tasklist|ipconfig|tree|choco|winget|k6|hey|vegeta|crontab|composer|bundle|rails|rake|gem|mix|elixir|swift|flutter|ollama|huggingface-cli|set|if \\[\\[?|then|else|fi|for [a-z]\\w{0,20} in|while (?:read|\\[\\[?)|do|done|exit|test|\\[\\[?';
const readingCmdlet =
	'(?:(?:powershell|pwsh)(?:\\.exe)? )?(?:get|select|sort|where|measure|format|group|compare)-[a-z]{3,20}(?: [\\w .*"\',:=-]{1,80})?';
/** Programs that take a pattern or a program, which has separators of its own. */
const filters = 'grep|egrep|rg|sed|awk|jq|yq|do|\\[\\[?';
const inPattern = '(?:[^\\n;|&]|(?<=[\\w)$/"\'])[|;](?=[\\w(/"\']))';
const command = `(?:sudo )?(?:[a-z_]{1,30}=[^ ;|&]{0,40} ){0,3}(?:(?:${filters}) ${inPattern}{1,160}|(?:${tools})(?: [^\\n;|&]{1,160})?|${readingCmdlet})`;
const line = new RegExp(`^(?:[$>] )?${command}(?: ?(?:\\|\\|?|&&|;) ?${command}){0,5}$`);

const systemDirectory = '(?:^|[ =:<>"\'@])/(?:$|[ *?]|(?:etc|proc|sys|boot|root|dev/(?!null)|var|home|tmp|opt|srv|lib|mnt|run)\\b)';
const foreign = new RegExp(
	[
		systemDirectory,
		// What is put in by the shell, but for where the work is done and on how many processors.
		'\\$\\((?!(?:pwd|nproc|date(?: \\+[\\w%-]{1,20})?|git [\\w -]{1,40})\\))|[`\\r]|[<>]\\(|\\$\\{|\\$ifs|\\{[^ }\\n]{0,40},',
		'\\b(?:passwd|shadow|id_rsa|authorized_keys)\\b|\\.(?:ssh|aws|env|php\\d?|jspx?|aspx?)\\b|\\.\\.\\/\\.\\.|\\bwin\\.ini\\b',
		'(?:^|[ ="\'])[a-z]:|\\\\\\\\|%[a-z_]{2,30}%',
		'\\b(?:curl|wget)\\b[^\\n]{0,160}(?:\\w:\\/\\/|[ =]@|\\w\\.(?!json|txt|html?|gz|zip|log|csv|pem|out)\\w)|\\b(?:ftp|gopher|tcp|udp|file|dict):|\\b\\d{1,3}(?:\\.\\d{1,3}){3}\\b',
		'\\/dev\\/tcp|(?<!\\b(?:exec|run) [^\\n;|&]{1,60})\\/bin\\/|\\b(?:ba|da|z|k|c|tc)?sh -|> ?\\/(?!dev\\/null)|\\bbase64\\b|\\bxxd\\b',
		'\\b(?:nc|ncat|netcat|socat|telnet|whoami|uname|env|printenv|hostname|ifconfig|passthru)\\b|(?:^|[;|&] ?)(?:id\\b|set ?(?:$|[;|&]))|\\|\\s?(?:ba|da|z|k)?sh\\b|(?<!-)\\brm -',
		'\\b(?:python|perl|ruby|node|php|deno|bun)[\\d.]{0,4} -[a-z]{0,3}[cer]\\b|\\bfind\\b[^\\n]{0,100}-(?:exec|perm|delete|ok)|\\b(?:awk|xargs|find)\\b[^\\n]{0,100}(?:system|getline|\\bsh\\b|\\/inet)',
		'\\/\\?|\\?\\/|\\?{2}|(?:^|[ =])\\/[\\w.]{0,20}[*?[]',
	].join('|'),
);
/** A second program without arguments is what is tried behind a first on servers that run what they are sent. */
const bareSecond = /[;&|] ?(?:ls|cat|dir|ps|ping|tasklist|ipconfig|netstat|curl|wget|dig|nslookup|find)(?:$| ?[;|&])/;

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

/** What the signatures find apart from lines of manuals. */
export function beyondManuals(signatures: readonly Signature[]): readonly Signature[] {
	return signatures.map((signature) => {
		const { pattern } = signature;
		const test = (text: string): boolean => pattern.test(text) && pattern.test(withoutManuals(text));
		return { ...signature, pattern: { source: pattern.source, test } };
	});
}
