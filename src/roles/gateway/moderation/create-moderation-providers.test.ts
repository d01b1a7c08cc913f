import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import { startSimulator } from '../../../../test/support/start-simulator.ts';
import { until } from '../../../../test/support/until.ts';
import { startClient } from '../../../../test/support/upstream-under-test.ts';
import type { Labels, Metrics } from '../../../core/metrics.ts';
import { noMetrics } from '../../../core/metrics.ts';
import { systemClock } from '../../../io/system-clock.ts';
import { chatJudge } from '../../../wire/moderation/chat-judge.ts';
import type { ProtocolSettings } from '../../../wire/moderation/moderation-protocols.ts';
import { createModerationProviders, type ModerationProvider } from './create-moderation-providers.ts';
import type { ModerationProviderSettings } from './moderation-settings.ts';

/** Addresses and settings of the simulated moderation providers, by the simulator's name. */
const moderationProviders = {
	moderation: { path: '/openai/v1', protocol: { kind: 'openai-moderation', apiKey: 'sk-moderation', model: null } },
	'bedrock-guardrail': {
		path: '/bedrock',
		protocol: { kind: 'bedrock-guardrail', guardrailId: 'gr1', guardrailVersion: 'DRAFT', apiKey: 'bedrock-key' },
	},
	'content-safety': { path: '/azure', protocol: { kind: 'azure-content-safety', apiKey: 'azure-key' } },
	judge: {
		path: '/judge/v1',
		protocol: { kind: 'chat-judge', apiKey: 'judge-key', model: 'llama-guard-4', form: 'llama-guard', policy: '', category: 'other' },
	},
} as const satisfies Record<string, { path: string; protocol: ProtocolSettings }>;

type ModerationProviderName = keyof typeof moderationProviders;
const names = Object.keys(moderationProviders) as ModerationProviderName[];

const simulator = await startSimulator();
afterAll(() => simulator.close());

/** Metrics that record each increment. */
function recordingMetrics(): { metrics: Metrics; added: [name: string, by: number, labels: Labels][] } {
	const added: [string, number, Labels][] = [];
	const add = (name: string, by: number, labels: Labels): void => void added.push([name, by, labels]);
	const metrics: Metrics = {
		...noMetrics,
		counter: (name) => ({
			add: (by = 1, labels = {}) => add(name, by, labels),
			of: (labels) => ({ add: (by = 1) => add(name, by, labels) }),
		}),
	};
	return { metrics, added };
}

function startEngine(name: ModerationProviderName, overrides: Partial<ModerationProviderSettings> = {}) {
	const { metrics, added } = recordingMetrics();
	const log = createRecordingLog();
	const { path, protocol } = moderationProviders[name];
	const settings: ModerationProviderSettings = {
		name,
		action: 'block',
		protocol,
		baseUrl: simulator.origin + path,
		canReachPrivateNetwork: true,
		awsCredentials: null,
		timeoutMs: 2000,
		maxConcurrent: 8,
		onFailure: 'open',
		thresholds: { log: 0.5, block: 0.8 },
		price: { inputPicoUsd: 200_000n, outputPicoUsd: 200_000n, thousandUnitsNanoUsd: 750_000_000n },
		...overrides,
	};
	const [moderationProvider] = createModerationProviders([settings], { upstream: startClient().send, clock: systemClock, log, metrics });
	if (moderationProvider === undefined) throw new Error('no engine');
	return { moderationProvider, added, log };
}

async function breakModeration(name: ModerationProviderName, fault: string): Promise<void> {
	await simulator.control('POST', '/faults', { dialect: name, fault });
	onTestFinished(async () => void (await simulator.control('DELETE', '/faults')));
}

const requested = { requestId: 'req-1', team: 'team-1' };
const judge = (moderationProvider: ModerationProvider, text: string) => moderationProvider.judge([text], 'input', requested);

describe.each(names)('%s', (name) => {
	it('reports the findings, and meters the cost', async () => {
		const { moderationProvider, added } = startEngine(name);
		const clean = await judge(moderationProvider, 'What is the capital of France?');
		expect(clean).toMatchObject({ outcome: 'evaluated' });
		expect(clean.findings).toEqual([]);
		const violated = await moderationProvider.judge(['hello', 'a text that says simulate-hate and simulate-violence'], 'output', requested);
		expect(
			violated.findings
				.filter(({ score }) => score >= 0.8)
				.map(({ category }) => category)
				.toSorted(),
		).toEqual(['hate', 'violence']);
		expect(violated.costNanoUsd).toBeGreaterThan(0n);
		const units = name === 'judge' ? violated.usage.inputTokens + violated.usage.outputTokens : violated.usage.units;
		expect(units).toBeGreaterThan(0);
		expect(added).toContainEqual(['tollgate_moderation_evaluations_total', 1, { moderation_provider: name, outcome: 'evaluated' }]);
		expect(added).toContainEqual(['tollgate_moderation_cost_usd_total', Number(violated.costNanoUsd) / 1e9, { moderation_provider: name }]);
	});

	it.each([
		['slow-first-byte-1500', 'timeout'],
		['hang', 'timeout'],
		['stall-1', 'timeout'],
		['reset', 'unreachable'],
		['cut-after-1', 'unreachable'],
		['500', 'status'],
		['429', 'status'],
		['malformed-json', 'malformed'],
		['html-200', 'malformed'],
		['empty', 'malformed'],
	])('under %s fails as configured, in time, counted', async (fault, failure) => {
		await breakModeration(name, fault);
		// The simulator's clock stands still, so a slow response never arrives, however short the timeout.
		const timeoutMs = failure === 'timeout' ? 80 : 2000;
		for (const onFailure of ['open', 'closed'] as const) {
			const { moderationProvider, added, log } = startEngine(name, { onFailure, timeoutMs });
			const startedMs = performance.now();
			expect(await judge(moderationProvider, 'the text')).toMatchObject({
				outcome: 'failed',
				failure,
				isBlocking: onFailure === 'closed',
				findings: [],
			});
			expect(performance.now() - startedMs).toBeLessThan(2000);
			expect(added).toEqual([['tollgate_moderation_evaluations_total', 1, { moderation_provider: name, outcome: failure }]]);
			expect(log.lines).toMatchObject([{ event: 'moderation provider failed', fields: { reason: failure, on_failure: onFailure } }]);
			expect(JSON.stringify(log.lines)).not.toMatch(/the text|key/);
		}
	});

	it('is not reachable in the private network by default', async () => {
		const { moderationProvider } = startEngine(name, { canReachPrivateNetwork: false });
		expect(await judge(moderationProvider, 'x')).toMatchObject({ outcome: 'failed', failure: 'unreachable' });
	});
});

describe('any moderation provider', () => {
	it('has a concurrency limit; a text that waits too long, or finds the queue full, is not evaluated', async () => {
		await breakModeration('judge', 'hang');
		const { moderationProvider } = startEngine('judge', { maxConcurrent: 2, timeoutMs: 100 });
		const judgements = await Promise.all(Array.from({ length: 30 }, () => judge(moderationProvider, 'x')));
		const failures = judgements.map((judgement) => (judgement.outcome === 'failed' ? judgement.failure : 'evaluated'));
		expect(failures.filter((failure) => failure === 'timeout')).toHaveLength(2);
		expect(failures.filter((failure) => failure === 'busy')).toHaveLength(28);
		await simulator.control('DELETE', '/faults');
		const later = await Promise.all(
			Array.from({ length: 10 }, () => judge(startEngine('judge', { maxConcurrent: 2 }).moderationProvider, 'x')),
		);
		expect(later.every(({ outcome }) => outcome === 'evaluated')).toBe(true);
	});

	it('releases its slots', async () => {
		const { moderationProvider } = startEngine('judge', { maxConcurrent: 1 });
		for (let round = 0; round < 3; round++) {
			const judgements = await Promise.all(Array.from({ length: 8 }, () => judge(moderationProvider, 'x')));
			expect(judgements.every(({ outcome }) => outcome === 'evaluated')).toBe(true);
		}
	});

	it('stops when the client disconnects, and does not count that as its failure', async () => {
		await breakModeration('moderation', 'hang');
		const { moderationProvider, log, added } = startEngine('moderation');
		const release: (() => void)[] = [];
		const judgement = moderationProvider.judge(['x'], 'input', {
			...requested,
			onClientDisconnect: (listener) => void release.push(listener),
		});
		await until(() => release.length > 0);
		for (const listener of release) listener();
		expect(await judgement).toMatchObject({ outcome: 'failed', failure: 'abandoned' });
		expect(log.lines).toEqual([]);
		expect(added).toEqual([['tollgate_moderation_evaluations_total', 1, { moderation_provider: 'moderation', outcome: 'abandoned' }]]);
	});

	it('evaluates long texts in pieces, and rejects texts that would need too many', async () => {
		const { moderationProvider } = startEngine('content-safety');
		const long = await judge(moderationProvider, `${'a'.repeat(35_000)} simulate-sexual`);
		expect(long).toMatchObject({ outcome: 'evaluated', usage: { units: 4 } });
		expect(long.findings).toContainEqual({ category: 'sexual', label: 'Sexual', score: 1, isSure: true });
		expect(await judge(moderationProvider, 'a'.repeat(1_000_000))).toMatchObject({ outcome: 'failed', failure: 'too_large' });
	});

	it('keeps findings if another request of the same evaluation fails', async () => {
		await simulator.control('POST', '/faults', { dialect: 'content-safety', fault: '500', count: 1 });
		onTestFinished(async () => void (await simulator.control('DELETE', '/faults')));
		const { moderationProvider } = startEngine('content-safety');
		const text = 'simulate-hate '.repeat(1400);
		expect(await judge(moderationProvider, text)).toMatchObject({
			outcome: 'failed',
			failure: 'status',
			findings: [{ category: 'hate', score: 1 }],
		});
	});

	it('reports and blocks from the thresholds on', async () => {
		const find = async (log: number, block: number) =>
			(await judge(startEngine('moderation', { thresholds: { log, block } }).moderationProvider, 'simulate-hate')).findings;
		expect(await find(0.98, 0.98)).toEqual([]);
		expect(await find(0.97, 0.98)).toMatchObject([{ category: 'hate', score: 0.97, isSure: false }]);
		expect(await find(0.5, 0.97)).toMatchObject([{ category: 'hate', isSure: true }]);
	});

	it('logs the request and the cost, or that the price is unknown', async () => {
		const priced = startEngine('judge');
		const { costNanoUsd, usage } = await judge(priced.moderationProvider, 'x');
		expect(costNanoUsd).toBe(BigInt(usage.inputTokens + usage.outputTokens) * 200n);
		expect(priced.log.lines).toMatchObject([
			{ event: 'moderation provider evaluated', fields: { ...requested, cost_nano_usd: String(costNanoUsd) } },
		]);
		const unpriced = startEngine('judge', { price: undefined });
		expect((await judge(unpriced.moderationProvider, 'x')).costNanoUsd).toBeUndefined();
		expect(unpriced.log.lines).toMatchObject([{ fields: { cost_nano_usd: null } }]);
		expect(unpriced.added).toContainEqual(['tollgate_moderation_unpriced_total', 1, { moderation_provider: 'judge' }]);
		expect(unpriced.added.map(([name]) => name)).not.toContain('tollgate_moderation_cost_usd_total');
		// Usage that was not charged costs nothing at any price.
		await breakModeration('judge', '500');
		expect((await judge(unpriced.moderationProvider, 'x')).costNanoUsd).toBe(0n);
	});

	it('sends nothing if there is no text', async () => {
		const { moderationProvider, added } = startEngine('moderation');
		await breakModeration('moderation', '500');
		expect(await moderationProvider.judge(['', ''], 'input', requested)).toMatchObject({ outcome: 'evaluated', findings: [] });
		expect(added).toHaveLength(1);
	});

	it('signs requests to Bedrock if it has no API key', async () => {
		const { moderationProvider } = startEngine('bedrock-guardrail', {
			protocol: { ...moderationProviders['bedrock-guardrail'].protocol, apiKey: null },
			awsCredentials: { region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'session' },
		});
		expect(await judge(moderationProvider, 'simulate-misconduct')).toMatchObject({
			outcome: 'evaluated',
			findings: [{ category: 'misconduct' }],
		});
		const [seen] = await simulator.requests('?dialect=bedrock-guardrail&limit=1');
		// The simulator reads the access key's id as the key.
		expect(seen?.key).toMatch(/MPLE$/);
		expect(seen?.headers['x-amz-security-token']).toBeDefined();
	});

	it.each([
		['llama-guard', 'llama-guard-4'],
		['shield-gemma', 'shieldgemma-9b'],
		['safeguard', 'gpt-oss-safeguard-20b'],
	] as const)('uses the dialect %s', async (form, model) => {
		const protocol = { kind: 'chat-judge', apiKey: null, model, form, policy: 'No hate.', category: 'hate' } as const;
		expect(chatJudge(protocol).headers).toEqual({});
		const { moderationProvider } = startEngine('judge', { protocol: { ...protocol, apiKey: 'k' } });
		expect((await judge(moderationProvider, 'nice')).findings).toEqual([]);
		expect((await judge(moderationProvider, 'simulate-hate')).findings).toMatchObject([{ category: 'hate' }]);
	});
});
