import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { demoConfig } from '../config/demo.ts';
import { parseConfig } from '../config/load.ts';
import { renderBanner } from './banner.ts';

const secretOfFullLength = 'x'.repeat(43);

function banner(secret: string | undefined, env: Record<string, string> = {}, isTerminal = false): string {
	const { config, simulatedProviders } = demoConfig(parseConfig('', { file: null, env }).config);
	return renderBanner({ version: '1.2.3', config, simulatedProviders, client: { id: 'demo', secret }, isTerminal });
}

/** Lines that are meant to be pasted. */
function commands(text: string): string[] {
	return text.split('\n').filter((line) => /^(curl|\w+=\$\(curl)/.test(line));
}

/** Splits a command line into words, like a shell. */
function wordsOf(command: string): string[] {
	const { stdout } = spawnSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; TOKEN=t; ${command}`], { encoding: 'utf8' });
	return stdout.split('\n');
}

test('shows every address, and the provider of each format', () => {
	const text = banner('s3cret', { OPENAI_API_KEY: 'sk-own' });
	expect(text).toContain('Tollgate 1.2.3');
	expect(text).toMatch(/^gateway +http:\/\/127\.0\.0\.1:8787$/m);
	expect(text).toMatch(/^identity +http:\/\/127\.0\.0\.1:8789$/m);
	expect(text).toMatch(/^admin API +http:\/\/127\.0\.0\.1:8788\/docs$/m);
	expect(text).toMatch(/^simulator +http:\/\/127\.0\.0\.1:8790$/m);
	expect(text).toMatch(/^provider_a +anthropic, simulator$/m);
	expect(text).toMatch(/^provider_b +openai, real, your key$/m);
	expect(text).not.toContain('sk-own');
	expect(text.endsWith('\n')).toBe(true);
});

test('id, secret, and one line for each command', () => {
	const text = banner('s3cret');
	expect(text).toMatch(/^client id +demo$/m);
	expect(text).toMatch(/^client secret +s3cret$/m);
	expect(commands(text)).toHaveLength(3);
	expect(commands(text)[0]).toContain('-u demo:s3cret ');
});

test.each([true, false])('has at most 15 lines, on a terminal: %s', (isTerminal) => {
	for (const env of [{}, { OPENAI_API_KEY: 'sk-own' }]) {
		expect(banner(secretOfFullLength, env, isTerminal).trimEnd().split('\n').length).toBeLessThanOrEqual(15);
	}
});

test('on a terminal no line is wider than 80 columns, and a shell reads the wrapped commands as it reads the others', () => {
	const text = banner(secretOfFullLength, { OPENAI_API_KEY: 'sk-own' }, true);
	expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
	expect(text).toMatch(/^client secret +x{43}$/m);
	for (const fact of ['gateway ', 'identity ', 'admin API ', 'simulator ', 'provider_a ', 'provider_b ', 'provider_c ', 'provider_d ']) {
		expect(text).toContain(fact);
	}
	const wrapped = text
		.slice(text.indexOf('TOKEN='))
		.trimEnd()
		.split(/\n(?=curl )/);
	const whole = commands(banner(secretOfFullLength));
	expect(wrapped).toHaveLength(3);
	expect(wrapped.map((command) => command.replaceAll(' \\\n  ', ' ').replaceAll('\n', ''))).toEqual(whole);
	for (const [index, command] of wrapped.slice(1).entries()) {
		const bodyOf = (words: string[]): unknown => JSON.parse(words.slice(words.indexOf('-d') + 1).join('\n'));
		expect(bodyOf(wordsOf(command))).toEqual(bodyOf(wordsOf(whole[index + 1] ?? '')));
	}
});

test('if the client has another secret: how to get one, and a command that reads it from the user', () => {
	const text = banner(undefined);
	expect(text).toMatch(/^client secret +already shown; create a new one with bin\/tollgate client rotate demo/m);
	expect(commands(text)[0]).toContain('-u "demo:$GATEWAY_CLIENT_SECRET" ');
});

test('no simulator if every key is set', () => {
	const text = banner('s3cret', { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b', GEMINI_API_KEY: 'c', AZURE_OPENAI_API_KEY: 'd' });
	expect(text).toMatch(/^provider_c +gemini, real/m);
	expect(text).toMatch(/^provider_d .*simulator/m);
});
