/** A seeded trace of requests that is driven through the gateway under any policy, with a clock of its own. */
import { expect } from 'vitest';
import { recordRequests } from '../../src/composition/record-requests.ts';
import { type BudgetPolicy, plainBudget } from '../../src/core/budget.ts';
import type { RoutingRule } from '../../src/core/routing-rule.ts';
import type { Team } from '../../src/core/team.ts';
import { sentOutcome } from '../../src/io/request-log.ts';
import type { GatewaySettings, TeamDirectory } from '../../src/roles/gateway/gateway-settings.ts';
import { firstIdOf, type RequestRecords } from '../../src/stores/contracts/request-records.ts';
import { createMemoryAdmission } from '../../src/stores/memory/memory-admission.ts';
import { openRecordsSnapshot } from '../../src/stores/records-snapshot.ts';
import { restoreMissing, type SumUpTeam } from '../../src/stores/restoring-admission.ts';
import {
	callerOf,
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	sentText,
	settle,
	sseResponse,
	testSettings,
} from './gateway-bench.ts';
import { ManualClock } from './manual-clock.ts';
import { createMemoryRecords } from './memory-records.ts';
import { createMemoryRequestRecords } from './memory-request-records.ts';
import { createRecordingLog } from './recording-log.ts';

export interface TracePolicy {
	readonly settings?: Partial<GatewaySettings>;
	readonly teams: readonly Team[];
	readonly budgets: readonly (Partial<BudgetPolicy> & { readonly team: string })[];
	readonly rules: readonly Pick<RoutingRule, 'match' | 'strategy' | 'targets'>[];
}

/** Everything that a provider's response to a request depends on. */
export interface TracedRequest {
	readonly id: string;
	readonly startMs: number;
	readonly endMs: number;
	readonly clientId: string;
	readonly path: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: Readonly<Record<string, unknown>>;
	readonly inputTokens: number;
	readonly outputTokens: number;
	/** Provider that fails this request. */
	readonly failing: string | null;
}

export interface TracedOutcome {
	readonly code: string | undefined;
	readonly provider: string | undefined;
	readonly model: string | undefined;
	readonly isOutputCapped: boolean;
	readonly costNanoUsd: bigint;
}

export function randomFrom(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 4_294_967_296) * below);
	};
}

export interface TraceOptions {
	readonly count: number;
	readonly seed: number;
	readonly fromMs: number;
	/** Mean time between two starts. */
	readonly gapMs: number;
	readonly teams: readonly string[];
	/** Teams whose requests have one format, because another model may serve them. */
	readonly plainTeams: readonly string[];
	/** Teams whose requests do not fail, because the policies send them to different targets. */
	readonly successfulTeams: readonly string[];
}

/** No two events of a trace have the same time, because their order would depend on the process. */
export function createTrace({ count, seed, fromMs, gapMs, teams, plainTeams, successfulTeams }: TraceOptions): TracedRequest[] {
	const random = randomFrom(seed);
	const ends = new Set<number>();
	let startMs = fromMs;
	return Array.from({ length: count }, (_, index) => {
		startMs += 1 + random(2 * gapMs - 1);
		let endMs = startMs + 100 + random(random(10) === 0 ? 40_000 : 4_000) + 0.5;
		while (ends.has(endMs)) endMs++;
		ends.add(endMs);
		const team = teams[random(teams.length)] ?? '';
		const isMessages = random(5) === 0 && !plainTeams.includes(team);
		const isCount = isMessages && random(3) === 0;
		const models = ['gpt-5', 'gpt-5-mini', 'gpt-4o', 'paired'];
		const content = 'word '.repeat(5 + random(400));
		const model = isMessages ? 'claude-sonnet-4-5' : models[random(models.length)];
		const hasCap = isMessages || random(2) === 0;
		const outputTokens = 1 + random(900);
		const isStreaming = !isCount && random(3) === 0;
		return {
			id: `${firstIdOf(startMs)}${index.toString(16).padStart(20, '0')}`,
			startMs,
			endMs,
			clientId: `${team}-${1 + random(3)}`,
			path: isCount ? '/v1/messages/count_tokens' : isMessages ? '/v1/messages' : '/v1/chat/completions',
			headers: random(3) === 0 ? { 'x-gateway-session': `session-${random(50)}` } : {},
			body: {
				model,
				...(hasCap && !isCount && { max_tokens: outputTokens + random(2000) }),
				...(isStreaming && { stream: true }),
				messages: [{ role: 'user', content: `#${index}# ${content}` }],
			},
			inputTokens: Math.ceil(content.length / 5) + random(50),
			outputTokens,
			failing: random(20) === 0 && !successfulTeams.includes(team) ? 'provider_b' : null,
		};
	});
}

/** Totals before the trace. */
export const sumUpBefore: SumUpTeam = async (team, budgets) => ({
	team,
	tokensToday: 20_000,
	budgets: budgets.map(({ budget, period }) => ({ budget, period, settledNanoUsd: period.length === 7 ? 150_000_000n : 0n })),
	endedIds: [],
});

/** Opens teams, budgets and rules as gateways see them. */
export async function openTeams({ teams, budgets, rules }: TracePolicy): Promise<TeamDirectory> {
	const records = createMemoryRecords();
	for (const [index, budget] of budgets.entries()) {
		const terms = { limitNanoUsd: 1n, warningThresholdPercent: 80, hardLimitPercent: 100, createdAtMs: 0, updatedAtMs: 0 };
		expect(await records.budgets.create({ ...plainBudget, ...terms, id: `budget-${index}`, ...budget })).toBe('created');
	}
	for (const [index, rule] of rules.entries()) {
		const id = `rule-${index}`;
		const named = { id, name: id, priority: index, isEnabled: true, mode: 'enforce' as const, createdAtMs: 0, updatedAtMs: 0 };
		expect(await records.routingRules.create({ ...named, ...rule })).toBe('created');
	}
	return openRecordsSnapshot(records, teams, { clock: new ManualClock(), log: createRecordingLog() });
}

export const traceSettings: GatewaySettings = {
	...testSettings,
	timeouts: { connectMs: 1000, firstByteMs: 600_000, idleMs: 600_000, totalMs: 600_000, streamTotalMs: 600_000 },
	providers: testSettings.providers.map((provider) => ({ ...provider, traffic: { ...provider.traffic, ejectAfterFailures: 1000 } })),
	unregisteredClients: 'reject',
};

/** Drives the trace through a gateway. @returns outcomes by request id, and the records of the requests. */
export async function enforce(
	policy: TracePolicy,
	trace: readonly TracedRequest[],
): Promise<{ readonly outcomes: ReadonlyMap<string, TracedOutcome>; readonly records: RequestRecords }> {
	const clock = new ManualClock();
	const admission = restoreMissing(createMemoryAdmission({ clock }), {
		clock: new ManualClock(),
		sumUp: sumUpBefore,
		endedSinceMs: () => clock.nowMs(),
	});
	const bench = new GatewayBench({ ...traceSettings, ...policy.settings }, { teams: await openTeams(policy), clock, admission });
	clock.jumpWallTo((trace[0]?.startMs ?? 0) - 1000);
	const ending = new Map<number, () => void>();
	bench.respond = (sent) => {
		sent.onSent?.();
		const index = Number(/#(\d+)#/.exec(sentText(sent))?.[1]);
		const traced = trace[index];
		if (traced === undefined) throw new Error(`the upstream got a request outside the trace: ${sentText(sent)}`);
		if (traced.failing !== null && sent.origin === originOf(traced.failing)) return jsonResponse(503, '{"error":{"message":"busy"}}');
		if (traced.body['stream'] === true) {
			const stream = new HandStream();
			ending.set(index, () => {
				stream.write(streamedText(traced));
				stream.sink?.end();
			});
			return sseResponse(stream);
		}
		return new Promise((resolve) => ending.set(index, () => resolve(jsonResponse(200, responseText(traced)))));
	};
	const records = createMemoryRequestRecords();
	const { observe } = recordRequests(records);
	const outcomes = new Map<string, TracedOutcome>();
	const running = new Map<number, () => Promise<void>>();
	const moveTo = (nowMs: number): void => clock.advance(nowMs - clock.nowMs());
	for (const { atMs, index, isEnd } of eventsOf(trace)) {
		const traced = trace[index];
		if (traced === undefined) continue;
		moveTo(atMs);
		if (isEnd) {
			ending.get(index)?.();
			await running.get(index)?.();
			running.delete(index);
			ending.delete(index);
			continue;
		}
		const body = JSON.stringify(traced.body);
		const more = { id: traced.id, caller: callerOf(traced.clientId) };
		let responded: Awaited<ReturnType<typeof bench.ask>> | undefined;
		const asking = bench.ask(traced.path, body, traced.headers, more).then((response) => {
			responded = response;
			if (response.status === 200 && traced.body['stream'] === true) readStream(response);
		});
		while (!ending.has(index) && responded === undefined) await new Promise((resolve) => setImmediate(resolve));
		await settle();
		const finish = async (): Promise<void> => {
			await asking;
			await settle();
			const { status = 0, record } = responded ?? {};
			if (record === undefined) throw new Error('the response has no record');
			const code = record.code;
			observe({
				requestId: traced.id,
				method: 'POST',
				target: traced.path,
				status,
				outcome: sentOutcome(code),
				durationMs: clock.nowMs() - traced.startMs,
				requestBytes: body.length,
				responseBytes: 0,
				peer: '',
				code,
				record,
			});
			const { provider, model, isOutputCapped = false, costNanoUsd = 0n } = record;
			outcomes.set(traced.id, { code, provider, model, isOutputCapped, costNanoUsd });
		};
		if (ending.has(index)) running.set(index, finish);
		else await finish();
	}
	await bench.gateway.settled();
	return { outcomes, records };
}

function originOf(provider: string): string | undefined {
	const { baseUrl } = traceSettings.providers.find(({ name }) => name === provider) ?? {};
	return URL.parse(baseUrl ?? '')?.origin;
}

interface TraceEvent {
	readonly atMs: number;
	readonly index: number;
	readonly isEnd: boolean;
}

function eventsOf(trace: readonly TracedRequest[]): TraceEvent[] {
	return trace
		.flatMap(({ startMs, endMs }, index) => [
			{ atMs: startMs, index, isEnd: false },
			{ atMs: endMs, index, isEnd: true },
		])
		.toSorted((one, other) => one.atMs - other.atMs);
}

function responseText({ path, inputTokens, outputTokens }: TracedRequest): string {
	if (path.endsWith('count_tokens')) return JSON.stringify({ input_tokens: inputTokens });
	if (path === '/v1/messages') {
		return JSON.stringify({ type: 'message', content: [], usage: { input_tokens: inputTokens, output_tokens: outputTokens } });
	}
	return JSON.stringify({ id: 'x', choices: [], usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens } });
}

function streamedText(traced: TracedRequest): string {
	const { path, inputTokens, outputTokens } = traced;
	if (path === '/v1/messages') {
		const begin = { type: 'message_start', message: { usage: { input_tokens: inputTokens, output_tokens: 1 } } };
		const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: outputTokens } };
		return `event: message_start\ndata: ${JSON.stringify(begin)}\n\nevent: message_delta\ndata: ${JSON.stringify(end)}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n`;
	}
	const usage = { prompt_tokens: inputTokens, completion_tokens: outputTokens };
	return `data: ${JSON.stringify({ id: 'x', choices: [], usage })}\n\ndata: [DONE]\n\n`;
}
