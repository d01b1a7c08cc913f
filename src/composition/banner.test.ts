import { expect, test } from 'vitest';
import { demoConfig } from '../config/demo.ts';
import { parseConfig } from '../config/load.ts';
import { renderBanner } from './banner.ts';

function banner(secret: string | undefined, env: Record<string, string> = {}): string {
	const { config, simulatedProviders } = demoConfig(parseConfig('', { file: null, env }).config);
	return renderBanner({ version: '1.2.3', config, simulatedProviders, client: { id: 'demo', secret } });
}

/** Lines that are meant to be pasted. */
function commands(text: string): string[] {
	return text.split('\n').filter((line) => /^(curl|\w+=\$\(curl)/.test(line));
}

test('says where everything is, and who answers for each provider', () => {
	const text = banner('s3cret', { OPENAI_API_KEY: 'sk-own' });
	expect(text).toContain('Tollgate 1.2.3');
	expect(text).toMatch(/^gateway +http:\/\/127\.0\.0\.1:8787 /m);
	expect(text).toMatch(/^identity +http:\/\/127\.0\.0\.1:8789$/m);
	expect(text).toMatch(/^simulator +http:\/\/127\.0\.0\.1:8790$/m);
	expect(text).toMatch(/^provider_a +anthropic: answered by the simulator/m);
	expect(text).toMatch(/^provider_b +openai: real/m);
	expect(text).not.toContain('sk-own');
	expect(text.endsWith('\n')).toBe(true);
});

test('the first time: id, secret, and commands that hold them', () => {
	const text = banner('s3cret');
	expect(text).toMatch(/^client id +demo$/m);
	expect(text).toMatch(/^client secret +s3cret$/m);
	expect(commands(text)).toHaveLength(5);
	expect(commands(text)[0]).toContain('client_secret=s3cret');
});

test('later: how to get another secret, and commands that take the one of the user', () => {
	const text = banner(undefined);
	expect(text).toMatch(/^client secret +was shown at the first start; bin\/tollgate client rotate demo/m);
	expect(commands(text)[0]).toContain('client_secret=$GATEWAY_CLIENT_SECRET ');
});

test('no simulator where every key is set', () => {
	const text = banner('s3cret', { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b', GEMINI_API_KEY: 'c', AZURE_OPENAI_API_KEY: 'd' });
	expect(text).toMatch(/^provider_c +gemini: real/m);
	expect(text).toMatch(/^provider_d .*simulator/m);
});
