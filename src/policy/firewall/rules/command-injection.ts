/**
 * Detects command lines in values: a program's name where a command begins, followed by text that commands have and sentences do not. Input
 * has no quotes, backslashes and carets, which shells drop inside words.
 */
import names from './command-names.json' with { type: 'json' };
import { type TextTest, wordsOf } from './signature.ts';

/** Names that are not natural words. */
const oddUnixCommands = wordsOf(names.oddUnixCommands);
/** Names that are words too, so only typical command arguments make them a match. */
const wordUnixCommands = wordsOf(names.wordUnixCommands);
/** Commands that run the command that follows them. */
const prefixCommands = wordsOf(names.prefixCommands);
const shells = wordsOf(names.shells);
const oddWindowsCommands = wordsOf(names.oddWindowsCommands);
const wordWindowsCommands = wordsOf(names.wordWindowsCommands);

/** Context in which a command begins, by certainty: after `$(`, after `;`, after a bracket, or at the beginning of a value. */
type Opening = 'substitution' | 'line' | 'separator' | 'backtick' | 'bracket' | 'value';

const maxArguments = 120;

const unixFlag = /(?:^| )--?[a-z][\w-]{0,30}(?:$|[ =:/.]|[0-9])|(?:^| )-\d{1,5}(?:$| )/;
const unixPath =
	/(?:^|[ =<>:])(?:\/(?:etc|bin|usr|var|tmp|home|root|dev|proc|opt|sys|mnt|srv|lib|boot|run|sbin|data)\b|\.{1,2}\/|~\/|\/ |\/$|\/[\w.*?-]{1,40}\/)/;
const shellSign = /[<>](?!=)|\$|\*\.|\/\*|(?:^| )\*/;
const address = /\b(?:https?|ftp):|\b\d{1,3}(?:\.\d{1,3}){3}\b/;
const hostName = /(?:^| )[\w-]{1,40}(?:\.[\w-]{1,40}){1,5}(?:$|[ :/])/;
const onlyNumber = /^\d{1,6}(?:\.\d{1,4})?[smhd]?$/;
/** Four words in a row form a sentence, not a command. */
const sentence = /^[a-z\u0080-\uffff,.!?'-]{1,30}(?: [a-z\u0080-\uffff,.!?'-]{1,30}){3}/;

const windowsFlag = /(?:^| )\/[a-z?]{1,12}(?:$|[ :])|(?:^| )[-/][a-z]{1,16}(?:$| )/;
const windowsPath = /\b[a-z]:[\\/]?|\\\\|%[a-z_]{2,30}%|\*\.|\bhk(?:lm|cu|ey)|\.(?:exe|bat|cmd|ps1|vbs|dll|txt|ini|hta|sct|log)\b/;
const windowsVerb =
	/^(?:net1? (?:user|users|localgroup|group|view|use|share|start|stop|accounts|session|config|time|statistics)|reg (?:query|add|delete|save|export|import|copy)|sc (?:query|queryex|create|start|stop|delete|config|qc)|query (?:user|session|process))\b/;

interface Shell {
	readonly odd: ReadonlySet<string>;
	readonly words: ReadonlySet<string>;
	readonly isArgument: (rest: string, name: string) => boolean;
	readonly isArgumentAtStart: (rest: string, name: string) => boolean;
}

const unix: Shell = {
	odd: oddUnixCommands,
	words: wordUnixCommands,
	isArgument: (rest, name) =>
		unixFlag.test(rest) ||
		unixPath.test(rest) ||
		shellSign.test(rest) ||
		address.test(rest) ||
		(onlyNumber.test(rest) && name !== 'at' && name !== 'time' && name !== 'top' && name !== 'date') ||
		(!rest.includes(' ') && hostName.test(rest)),
	isArgumentAtStart: (rest) => !sentence.test(rest) && (unixFlag.test(rest) || unixPath.test(rest) || /\b(?:https?|ftp):|^<|\|/.test(rest)),
};

const windows: Shell = {
	odd: oddWindowsCommands,
	words: wordWindowsCommands,
	isArgument: (rest, name) =>
		windowsFlag.test(rest) ||
		windowsPath.test(rest) ||
		address.test(rest) ||
		windowsVerb.test(`${name} ${rest}`) ||
		/^[><]|^-n\b/.test(rest),
	isArgumentAtStart: (rest, name) =>
		!sentence.test(rest) &&
		(windowsFlag.test(rest) || windowsPath.test(rest) || /\bhttps?:/.test(rest) || windowsVerb.test(`${name} ${rest}`)),
};

/** Characters of which a command needs one, before, in or after it. */
const commandSigns = ' ;|&`({<>$-\n';

export const unixCommandLine: TextTest = {
	source: 'command lines of Unix shells',
	anySign: commandSigns,
	test: (text) => hasCommand(withoutShellTricks(text), unix),
};

export const windowsCommandLine: TextTest = {
	source: 'command lines of Windows shells',
	anySign: commandSigns,
	test: (text) => hasCommand(text, windows),
};

function hasCommand(text: string, shell: Shell): boolean {
	if (isCommand(text, 0, 'value', shell)) return true;
	for (let at = 0; at < text.length; at++) {
		const opening = openingAt(text, at);
		if (opening !== undefined && isCommand(text, at + 1, opening, shell)) return true;
	}
	return false;
}

function openingAt(text: string, at: number): Opening | undefined {
	switch (text.charCodeAt(at)) {
		case 0x0a:
			return 'value';
		case 0x0d:
			return 'line';
		case 0x26: // &
		case 0x3b: // ;
		case 0x7c: // |
			return 'separator';
		case 0x28: // (
			if (at > 0 && text[at - 1] === '$') return 'substitution';
			return /(?:^|[\s;|&=])[<>]$/.test(text.slice(Math.max(0, at - 2), at)) ? 'substitution' : 'bracket';
		case 0x60: // `
			return 'backtick';
		case 0x7b: // {
			return 'bracket';
		default:
			return undefined;
	}
}

/** Families of administration tools. */
const toolFamily =
	/^(?:ansible|chef|puppet|salt|apt|dpkg|systemd|docker|podman|ssh|rpm|yum|dnf|kube|kubectl|gcloud|pip|npm|php|python|perl|git|lxc|crontab|update|smb|nm|qemu|virt|net|ldap|mysql|pg|redis|mongo|openssl|gpg|zfs|lvm|mkfs|fsck|grub|iptables|nft|ufw|firewall)-[a-z][a-z-]{1,30}$/;
/** Tools that execute their arguments on other machines, so they match without a separator. */
const remoteTool = /^(?:ansible|chef|puppet|salt|cscli|knife|kubectl|helm|terraform)(?:-[a-z]{2,16})?$/;

const prefixPattern = / {0,3}(?:[a-z_]\w{0,20}=[^ ;|&\n,]{0,40} |! |\$\w{1,20} |[@+-])?/y;
const namePattern = /((?:[a-z]:)?(?:[\\/][\w.*?[\]-]{0,40}){0,6}[\\/])?([a-z_0-9][a-z0-9_.+-]{0,40})/y;
const argumentsPattern = /[^;|&`)\n\r]{0,120}/y;

function isCommand(text: string, from: number, opening: Opening, shell: Shell, depth = 0): boolean {
	if (!canBeCommand(text, from, shell)) return false;
	const prefix = matchAt(prefixPattern, text, from)?.[0].length ?? 0;
	const found = matchAt(namePattern, text, from + prefix);
	if (found === undefined) return false;
	const path = found[1] ?? '';
	const name = (found[2] ?? '').replace(/\.(?:exe|com|bat|cmd)$/, '').replace(/(?<=[a-z])[\d.]{1,6}$/, '');
	const whole = (found[2] ?? '').replace(/\.(?:exe|com|bat|cmd)$/, '');
	const end = from + prefix + found[0].length;
	const isOdd = shell.odd.has(whole) || toolFamily.test(whole) || (shell.odd.has(name) && name.length > 2);
	const isWord = shell.words.has(whole);
	if (!isOdd && !isWord) return false;
	const next = text[end] ?? '';
	// `curl/8.1`, `id=5`, `time:` and `cat's` are no commands.
	if (!(next === '' || ' ;|&`)<>$\n\r'.includes(next) || (shell === windows && next === '/'))) return false;
	const rest = (matchAt(argumentsPattern, text, end)?.[0] ?? '').slice(0, maxArguments).trim();
	// `File "a.py", line 3` is a position in a stack trace.
	if (/^[=:](?!\\)|, line \d/.test(rest)) return false;
	if (prefixCommands.has(whole) && depth < 3 && isCommand(text, end, opening, shell, depth + 1)) return true;
	if (shells.has(whole) && /^-[a-z]{0,4}c /.test(rest)) return !/^-[a-z]{0,4}c (?:echo|printf|true|test|:) [a-z ]{0,60}$/.test(rest);
	if (opening === 'value' && remoteTool.test(whole) && /^[a-z-]{2,16}(?: [\w./-]{1,40}){1,5}$/.test(rest)) return true;
	if (opening === 'value' && whole.includes('-') && remoteTool.test(whole) && (rest === '' || /\.ya?ml\b/.test(rest))) return true;
	if (opening === 'separator' && rest === '' && isAlone(text, from, end)) return true;
	if (opening === 'value' && isOdd && rest === '' && name.length > 4 && ';|&'.includes(next || ' ')) return true;
	return check(opening, isOdd, path, rest, name, next, shell);
}

/** Rejects words that begin no command without running a pattern; most texts continue with one. */
function canBeCommand(text: string, from: number, shell: Shell): boolean {
	let start = from;
	while (text.charCodeAt(start) === 0x20 && start < from + 3) start++;
	let end = start;
	while (isLowerLetter(text.charCodeAt(end))) end++;
	if (end === start) return end < text.length;
	const next = text[end];
	if (next !== undefined && !' ;|&`)<>\n\r'.includes(next)) return true;
	const word = text.slice(start, end);
	return shell.odd.has(word) || shell.words.has(word);
}

const isLowerLetter = (code: number): boolean => code >= 0x61 && code <= 0x7a;

/** Tells whether a value is just a separator and this command. */
function isAlone(text: string, from: number, end: number): boolean {
	if (end < text.length && text[end] !== '\n') return false;
	const before = text.slice(Math.max(0, from - 3), from);
	return /(?:^|\n)[;|&` ]{1,2}$/.test(before) && (from <= 2 || before.includes('\n'));
}

function check(opening: Opening, isOdd: boolean, path: string, rest: string, name: string, next: string, shell: Shell): boolean {
	switch (opening) {
		case 'value':
			return shell.isArgumentAtStart(rest, name) && (isOdd || !/^-\d/.test(rest));
		case 'line':
			return shell.isArgumentAtStart(rest, name) || (isOdd && (rest === '' || path !== ''));
		case 'bracket':
			return path !== '' || (next === ' ' && shell.isArgument(rest, name) && !rest.startsWith('-') && (isOdd || unixPath.test(rest)));
		case 'substitution':
			return rest === '' || shell.isArgument(rest, name) || (isOdd && !sentence.test(rest));
		case 'backtick':
			return (isOdd && rest === '' && (name === 'id' || path !== '' || name.length > 5)) || shell.isArgument(rest, name);
		case 'separator':
			return isOdd ? rest === '' || path !== '' || isPlausible(rest, name, shell) : shell.isArgument(rest, name);
	}
}

function isPlausible(rest: string, name: string, shell: Shell): boolean {
	return (
		shell.isArgument(rest, name) || (!sentence.test(rest) && !/^(?:and|or|the|is|was|are|can|will|to|of|in|for|with|schedule)\b/.test(rest))
	);
}

/** Removes expansions that result in a space or in nothing. */
function withoutShellTricks(text: string): string {
	if (!/[${]|``|[<>]\(\)/.test(text)) return text;
	return text
		.replace(/\$\{?ifs(?:%\?\?|:\d:\d)?\}?(?:\$\d)?/g, ' ')
		.replace(/\$[@*\d!_-]|\$\{[@*#\d!_-]\}|``|[<>$]\(\)/g, '')
		.replace(/\{,([a-z]\w{0,30})\}|\{([a-z]\w{0,30}),\}/g, (_whole, last?: string, first?: string) => `;${last ?? first ?? ''};`)
		.replace(/\{,\$?([a-z/][\w./-]{0,30}(?:,[^{},\n"':]{0,40}){1,6})\}/g, (_whole, list: string) => `;${list.replaceAll(',', ' ')};`)
		.replace(/\{([a-z/][\w./-]{0,30}(?:,[^{},\n"':]{1,40}){1,6})\}/g, (_whole, list: string) => `(${list.replaceAll(',', ' ')})`);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
	pattern.lastIndex = at;
	return pattern.exec(text) ?? undefined;
}
