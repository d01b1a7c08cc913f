/** Replays the records of a trace under one policy, and compares each decision with a gateway that enforces another. */
import { expect } from 'vitest';
import {
	createTrace,
	enforce,
	openTeams,
	sumUpBefore,
	type TracedOutcome,
	type TracePolicy,
	traceSettings,
} from '../../../../test/support/policy-trace.ts';
import { rejections } from '../../../core/rejection.ts';
import type { Team, TeamLimits } from '../../../core/team.ts';
import { systemClock } from '../../../io/system-clock.ts';
import { createMemoryAdmission } from '../../../stores/memory/memory-admission.ts';
import type { Decision } from './replay-decision.ts';
import type { ReplayResult } from './replay-report.ts';
import { runReplay } from './run-replay.ts';

const names = ['lists', 'rpm', 'tokens', 'tpm', 'flights', 'budgets', 'cheaper', 'routes', 'monitored', 'raised', 'removed'];

const unlimited = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null };

/** @param denied models that the team `lists` may not use. */
function teamsOf(limits: Readonly<Record<string, TeamLimits>>, denied: readonly string[], left: readonly string[] = []): Team[] {
	return names
		.filter((id) => !left.includes(id))
		.map((id) => {
			const clientIds = [1, 2, 3].map((number) => `${id}-${number}`);
			return {
				id,
				name: id,
				tier: 'standard',
				clientIds,
				...(limits[id] !== undefined && { limits: limits[id] }),
				...(id === 'lists' && { allowLists: { models: { deny: denied } } }),
			};
		});
}

const paired = {
	match: { model: 'paired', team: null, format: null },
	strategy: 'priority' as const,
	targets: [
		{ provider: 'provider_b', model: 'gpt-4o-mini', weight: 1 },
		{ provider: 'provider_d', model: 'our-gpt', weight: 1 },
	],
};

/** Rejects only requests of teams whose later decisions by the other policy do not depend on usage. */
const policyA: TracePolicy = { teams: teamsOf({ raised: { requestsPerMinute: 2 } }, ['gpt-4o']), budgets: [], rules: [paired] };

const cent = 10_000_000n;

export function policyB(rpm = 4): TracePolicy {
	return {
		settings: {
			tiers: { sandbox: unlimited, standard: { ...unlimited, requestsPerMinute: 40 } },
		},
		teams: teamsOf(
			{
				rpm: { requestsPerMinute: rpm },
				tokens: { dailyTokens: 60_000 },
				tpm: { tokensPerMinute: 1500 },
				flights: { concurrentRequests: 2 },
				routes: { models: { 'gpt-5*': { requestsPerMinute: 2 }, 'claude-*': { tokensPerMinute: 900 } } },
				monitored: { requestsPerMinute: 1, tokensPerMinute: 100, concurrentRequests: 1, mode: 'monitor' },
				raised: { requestsPerMinute: 3 },
			},
			['gpt-5-mini', '*gpt-4o-mini'],
			['removed'],
		),
		budgets: [
			{ team: 'budgets', window: 'hour', limitNanoUsd: 8n * cent },
			{ team: 'budgets', window: 'day', timezone: 'Europe/Berlin', limitNanoUsd: 30n * cent },
			{ team: 'budgets', model: 'gpt-5', limitNanoUsd: 30n * cent },
			{ team: 'cheaper', window: 'hour', limitNanoUsd: 5n * cent, whenExceeded: 'fallback_model', fallbackModel: 'gpt-5-mini' },
			{ team: 'cheaper', window: 'hour', model: 'gpt-5-mini', limitNanoUsd: 6n * cent },
			{ team: 'monitored', window: 'hour', limitNanoUsd: cent, whenExceeded: 'warn' },
		],
		rules: [
			paired,
			{
				match: { model: 'gpt-4o', team: 'routes', format: null },
				strategy: 'weighted',
				targets: [
					{ provider: 'provider_b', model: 'gpt-4o', weight: 3 },
					{ provider: 'provider_b', model: 'gpt-4o-mini', weight: 2 },
				],
			},
		],
	};
}

export interface Comparison {
	readonly result: ReplayResult;
	readonly requests: number;
	readonly differences: readonly string[];
}

/** @param changed settings of both the gateway and the replay. @param replayed policy that is replayed. */
export async function compare(
	count: number,
	seed: number,
	changed: TracePolicy['settings'] = {},
	enforced: TracePolicy = policyB(),
	replayed = enforced,
): Promise<Comparison> {
	const fromMs = Date.UTC(2026, 10, 26, 22, 20);
	const successfulTeams = ['cheaper', 'raised', 'routes', 'lists'];
	const trace = createTrace({ count, seed, fromMs, gapMs: 1000, teams: names, plainTeams: ['cheaper'], successfulTeams });
	const before = await enforce(policyA, trace);
	const after = await enforce({ ...enforced, settings: { ...enforced.settings, ...changed } }, trace);
	const decisions = new Map<string, Decision>();
	const result = await runReplay(
		{ ...traceSettings, ...replayed.settings, ...changed },
		{ fromMs, toMs: (trace.at(-1)?.startMs ?? 0) + 1 },
		{
			teams: await openTeams(replayed),
			records: before.records,
			createAdmission: (clock) => createMemoryAdmission({ clock, idleMs: Number.MAX_SAFE_INTEGER }),
			createSumUp: () => sumUpBefore,
			clock: systemClock,
			observe: ({ id }, decision) => void decisions.set(id, decision),
		},
	);
	const differences = trace.flatMap(({ id }, index) => {
		// The cost of a request that was rejected before is estimated.
		const hasCost = before.outcomes.get(id)?.code === undefined;
		const [decided, outcome] = [described(decisions.get(id), hasCost), describedOutcome(after.outcomes.get(id), hasCost)];
		return decided === outcome ? [] : [`${index} ${id}: replay ${decided}, gateway ${outcome}`];
	});
	expect(result.requests).toBe(count);
	return { result, requests: decisions.size, differences };
}

function described(decision: Decision | undefined, hasCost: boolean): string {
	if (decision === undefined) return 'nothing';
	if (!decision.isServed) return decision.code;
	const { provider, model, isOutputCapped, costNanoUsd } = decision;
	return `${provider}/${model}${isOutputCapped ? ' capped' : ''} ${hasCost ? costNanoUsd : ''}`;
}

function describedOutcome(outcome: TracedOutcome | undefined, hasCost: boolean): string {
	if (outcome === undefined) return 'nothing';
	const { code, provider, model, isOutputCapped, costNanoUsd } = outcome;
	const isRejected = code !== undefined && Object.hasOwn(rejections, code);
	return isRejected ? code : `${provider}/${model}${isOutputCapped ? ' capped' : ''} ${hasCost ? costNanoUsd : ''}`;
}
