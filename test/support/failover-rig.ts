/** Gateway with several targets per request, and the entries of its ledger and counters. */

import { expect } from 'vitest';
import { plainBudget } from '../../src/core/budget.ts';
import type { HttpResponse } from '../../src/core/handler.ts';
import type { RoutingRule, RoutingRuleTarget } from '../../src/core/routing-rule.ts';
import type { UpstreamRequest } from '../../src/core/upstream.ts';
import { UpstreamError } from '../../src/core/upstream-error.ts';
import type { TrafficSettings } from '../../src/policy/resilience/traffic-settings.ts';
import type { BudgetSettings, GatewayPorts, GatewaySettings } from '../../src/roles/gateway/gateway-settings.ts';
import type { LedgerEntry } from '../../src/stores/contracts/ledger.ts';
import { chatBody, chatPath, GatewayBench, settle, teamDirectory, testSettings, testTraffic } from './gateway-bench.ts';

export const chatResponse = JSON.stringify({
	id: 'x',
	choices: [],
	usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
});
export const messageResponse = JSON.stringify({
	id: 'm',
	type: 'message',
	role: 'assistant',
	model: 'claude-sonnet-4-5',
	content: [{ type: 'text', text: 'hi' }],
	stop_reason: 'end_turn',
	stop_sequence: null,
	usage: { input_tokens: 1000, output_tokens: 500 },
});
/** Prices: 1.25 and 10 USD; 3 and 15 USD. */
export const costAtGpt5 = 6_250_000n;
export const costAtClaude = 10_500_000n;

export const gpt = { provider: 'provider_b', model: 'gpt-5', weight: 1 };
export const claude = { provider: 'provider_a', model: 'claude-sonnet-4-5', weight: 1 };
export const azure = { provider: 'provider_d', model: 'our-gpt', weight: 1 };

function ruleTo(targets: readonly RoutingRuleTarget[], strategy: RoutingRule['strategy'] = 'priority'): RoutingRule {
	const match = { model: null, team: null, format: null };
	return { id: 'r', name: 'r', priority: 1, isEnabled: true, mode: 'enforce', match, strategy, targets, createdAtMs: 0, updatedAtMs: 0 };
}

interface Plan {
	readonly targets?: readonly RoutingRuleTarget[];
	readonly strategy?: RoutingRule['strategy'];
	readonly traffic?: Partial<TrafficSettings>;
	readonly monthlyBudgetUsd?: string;
	readonly budgets?: Partial<BudgetSettings>;
	readonly caps?: Readonly<Record<string, bigint>>;
	readonly settings?: Partial<GatewaySettings>;
	readonly ports?: Partial<GatewayPorts>;
}

export function benchWith({
	targets = [gpt, claude],
	strategy,
	traffic = {},
	monthlyBudgetUsd,
	budgets = {},
	caps = {},
	settings,
	ports,
}: Plan = {}) {
	const unlimited = { requestsPerMinute: 100, dailyTokens: null, monthlyBudgetUsd: monthlyBudgetUsd ?? null };
	const budgetOf = (model: string) =>
		caps[model] === undefined
			? []
			: [
					{
						...plainBudget,
						id: `cap-${model}`,
						model,
						limitNanoUsd: caps[model],
						warningThresholdPercent: 80,
						hardLimitPercent: 100,
					},
				];
	const teams = teamDirectory({
		budgetsFor: (_team, { model }) => budgetOf(model),
		budgetsOf: () => Object.keys(caps).flatMap(budgetOf),
		routingRules: () => [ruleTo(targets, strategy)],
	});
	const providers = testSettings.providers.map((provider) => ({ ...provider, traffic: { ...testTraffic, ...traffic } }));
	return new GatewayBench(
		{
			providers,
			tiers: { sandbox: unlimited, standard: unlimited },
			budgets: { ...testSettings.budgets, ...budgets },
			...settings,
		},
		{ teams, ...ports },
	);
}

let requested = 0;
export function ask(bench: GatewayBench, headers: Record<string, string> = {}, body = chatBody): Promise<HttpResponse> {
	return bench.ask(chatPath, body, headers, { id: `req-${++requested}` });
}

export async function rowsOf(bench: GatewayBench): Promise<readonly LedgerEntry[]> {
	await bench.gateway.settled();
	expect(await bench.ledger.check()).toEqual([]);
	return (await bench.ledger.list({ limit: 100 })).rows;
}

export function texts({ id, provider, model, closed }: LedgerEntry): string {
	return `${id.replace(/^req-\d+/, 'req')} ${provider} ${model} ${closed?.outcome} ${closed?.costNanoUsd}`;
}

/** Settled and reserved amounts of the team's budgets. */
export async function readingOf(bench: GatewayBench, ...names: string[]): Promise<string[]> {
	await bench.gateway.settled();
	const reading = await bench.admission.read(
		'team-1',
		names.map((budget) => ({ budget, period: '2026-01' })),
	);
	return reading.budgets.map(({ settledNanoUsd, reservedNanoUsd }) => `${settledNanoUsd} ${reservedNanoUsd}`);
}

export function hostOf({ origin }: UpstreamRequest): string {
	return new URL(origin).hostname[0] ?? '';
}

/** Waits until the gateway waits for the clock. */
export async function untilWaiting(bench: GatewayBench): Promise<void> {
	while (bench.clock.pending === 0) await settle();
}

export const neverSent = (): never => {
	throw new UpstreamError('provider_unreachable', { cause: new Error('refused') });
};
export function sentThenLost(request: UpstreamRequest, code: 'provider_unreachable' | 'provider_first_byte_timeout'): never {
	request.onSent?.();
	throw new UpstreamError(code);
}
