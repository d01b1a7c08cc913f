import { expect, test } from 'vitest';
import { webhookSettings } from '../../composition/settings.ts';
import { noticeEvents } from '../../core/notice.ts';
import { parseConfig } from '../load.ts';
import { ConfigError } from '../problem.ts';
import { redactedYaml } from '../redacted-config.ts';
import { configWarnings } from '../warnings.ts';

const secret = 'canary-secret-of-the-webhook';

const parse = (webhooks: unknown, env: Record<string, string> = {}) =>
	parseConfig(JSON.stringify({ webhooks }), { file: null, env }).config;

function problemsOf(webhooks: unknown): string {
	try {
		parse(webhooks);
		return '';
	} catch (cause) {
		if (cause instanceof ConfigError) return cause.message;
		throw cause;
	}
}

test('url and secret are enough: the name is the host, and every event is sent', () => {
	const config = parse([{ url: 'https://hooks.example.com/in', secret: '${HOOK}' }], {
		HOOK: secret,
		HTTPS_PROXY: 'http://proxy.example.com:3128',
	});
	expect(webhookSettings(config)).toEqual([
		{
			name: 'hooks.example.com',
			url: 'https://hooks.example.com/in',
			secret,
			events: noticeEvents,
			canReachPrivateNetwork: false,
			proxy: { origin: 'http://proxy.example.com:3128' },
			credentialExpiryMs: 14 * 24 * 3_600_000,
			minAnomalyNanoUsd: 1_000_000_000n,
		},
	]);
	expect(redactedYaml(config)).not.toContain(secret);
});

test.each([
	['http://hooks.example.com/', 'must be https'],
	['https://127.0.0.1/', 'a loopback address'],
	['https://[::1]/', 'a loopback address'],
	['https://10.1.2.3/', 'a private address'],
	['https://169.254.169.254/latest', 'a cloud metadata address'],
	['https://localhost/', 'this machine'],
	['https://2130706433/', 'a loopback address'],
	['https://user:password@hooks.example.com/', 'without user-info'],
	['https://hooks.example.com/?token=x', 'without user-info, query and fragment'],
	['ftp://hooks.example.com/', 'must be an http or https URL'],
])('%s is no receiver', (url, problem) => {
	expect(problemsOf([{ url, secret }])).toContain(problem);
});

test('plain http to a private address needs permission', () => {
	expect(problemsOf([{ url: 'http://10.1.2.3:8080/in', secret, allow_private_network: true }])).toBe('');
});

test('one run reports every problem, and no secret', () => {
	const problems = problemsOf([
		{ url: 'https://hooks.example.com/a', secret: 'short' },
		{ url: 'https://hooks.example.com/b', secret, events: ['budget.warnings'] },
		{ url: 'https://hooks.example.com/c', secret, events: [] },
		{ secret },
	]);
	for (const setting of ['webhooks[0].secret', 'webhooks[1].events[0]', 'webhooks[2].events', 'webhooks[3].url']) {
		expect(problems).toContain(setting);
	}
	expect(problems).not.toMatch(/canary|short/);
});

test('two webhooks of one host need names', () => {
	const one = { url: 'https://hooks.example.com/a', secret };
	expect(problemsOf([one, one])).toContain('webhooks[1].name');
	expect(problemsOf([one, { ...one, name: 'second' }])).toBe('');
});

test('a process that sends no events warns of webhooks', () => {
	const text = (roles: string[]) => JSON.stringify({ roles, webhooks: [{ url: 'https://hooks.example.com/a', secret }] });
	const warnings = (...roles: string[]) => configWarnings(parseConfig(text(roles), { file: null, env: {} }).config).join();
	expect(warnings('edge')).toContain('webhooks: have no effect');
	expect(warnings('edge', 'gateway')).toBe('');
});
