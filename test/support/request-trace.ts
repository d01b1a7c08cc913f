/** Generator of request records as a busy installation has them: the same ones for the same seed. */
import { noAttributes, type RecordedRequest } from '../../src/stores/contracts/request-records.ts';
import { recordedRequest, rejectedRequest } from './recorded-request.ts';

const perSecond = 5000;
const teams = Array.from({ length: 50 }, (_, index) => `team-${index}`);
const models = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'gemini-2.5-pro', 'fast', 'cheap'];
const providers = ['provider_a', 'provider_b', 'provider_c', 'provider_d'];
const projects = Array.from({ length: 20 }, (_, index) => ({
	project: `project-${index}`,
	environment: index % 3 === 0 ? 'test' : 'prod',
}));

/** The one client and the one attribute that few of the records have. */
export const rare = { clientId: 'rare-client', attributes: { project: 'rare-project' }, everyRecords: 1_500_000 };

/** @param startMs time of the first record; later ones follow at 5,000 per second, in the order of their end. */
export function* requestTrace(count: number, startMs: number, seed = 1): Generator<RecordedRequest> {
	let state = seed;
	const random = (below: number): number => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 4_294_967_296) * below);
	};
	for (let index = 0; index < count; index++) {
		const endedMs = startMs + Math.floor((index * 1000) / perSecond);
		const durationMs = random(10) === 0 ? random(60_000) : random(3000);
		const team = teams[Math.floor(random(100) ** 2 / 200)] ?? 'team-0';
		const model = models[random(models.length)] ?? 'fast';
		const provider = providers[random(providers.length)] ?? 'provider_a';
		const isRare = index % rare.everyRecords === 7;
		const own: Partial<RecordedRequest> = {
			team,
			clientId: isRare ? rare.clientId : `${team}-client-${random(10)}`,
			modelRequested: model,
			model,
			provider,
			attributes: isRare ? rare.attributes : random(3) === 0 ? noAttributes : (projects[random(projects.length)] ?? noAttributes),
			durationMs,
			firstByteMs: Math.min(durationMs, 50 + random(800)),
			requestBytes: 300 + random(20_000),
			responseBytes: 500 + random(8000),
			usage: {
				inputTokens: random(6000),
				cacheReadTokens: random(4) === 0 ? random(50_000) : 0,
				cacheWriteTokens: 0,
				cacheWriteHourTokens: 0,
				outputTokens: random(1500),
				reasoningTokens: 0,
			},
			costNanoUsd: BigInt(random(50_000_000)),
			targets: [{ provider, model, status: 200, code: null, ms: Math.min(durationMs, 50 + random(800)) }],
			isStreaming: random(2) === 0,
			endpoint: random(2) === 0 ? '/v1/chat/completions' : '/v1/messages',
		};
		const kind = random(100);
		// Random, because 80 bits of an id do not compress.
		const sequence = random(4_294_967_296) * 1_048_576 + random(1_048_576);
		const startedMs = endedMs - durationMs;
		if (kind < 3) {
			yield recordedRequest(startedMs, sequence, {
				...own,
				...rejectedRequest,
				code: 'rpm_limit_exceeded',
				limit: { kind: 'requests_per_minute', limit: 100, used: 100, reserved: 0, resetsAtMs: Math.ceil(startedMs / 60_000) * 60_000 },
			});
		} else if (kind === 3) {
			yield recordedRequest(startedMs, sequence, {
				...own,
				status: 502,
				outcome: 'failed',
				code: 'provider_unreachable',
				usage: null,
				costNanoUsd: null,
			});
		} else {
			yield recordedRequest(startedMs, sequence, own);
		}
	}
}
