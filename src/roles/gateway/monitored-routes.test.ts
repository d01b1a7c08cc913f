/** Monitored routing rules: their decision is recorded and counted, and changes no target. */
import { expect, it } from 'vitest';
import { ask, benchWith, chatResponse, claude, gpt, hostOf } from '../../../test/support/failover-rig.ts';
import { jsonResponse, teamDirectory } from '../../../test/support/gateway-bench.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import { createMetrics } from '../../io/metrics.ts';

function rule(id: string, more: Partial<RoutingRule>): RoutingRule {
	const match = { model: null, team: null, format: null };
	return {
		id,
		name: id,
		priority: 1,
		isEnabled: true,
		mode: 'enforce',
		match,
		strategy: 'priority',
		targets: [claude],
		createdAtMs: 0,
		updatedAtMs: 0,
		...more,
	};
}

function benchUnder(...rules: readonly RoutingRule[]) {
	const metrics = createMetrics();
	const teams = teamDirectory({
		routingRules: () => rules.filter(({ mode }) => mode === 'enforce'),
		routingRulesWithMonitored: () => (rules.some(({ mode }) => mode === 'monitor') ? rules : []),
	});
	const bench = benchWith({ ports: { teams, metrics } });
	bench.respond = () => jsonResponse(200, chatResponse);
	return { bench, metrics };
}

async function routedBy(...rules: readonly RoutingRule[]) {
	const { bench, metrics } = benchUnder(...rules);
	const { status, record } = await ask(bench);
	const { text } = await metrics.scrape();
	const counted = text.split('\n').filter((line) => line.startsWith('tollgate_monitored'));
	return { status, hosts: bench.sent.map(hostOf), monitored: record?.monitored, route: record?.monitoredRoute, counted };
}

const route = { rule: 'tried', provider: 'provider_a', model: 'claude-sonnet-4-5' };

it('a monitored rule is recorded and counted, and the request goes where it went', async () => {
	expect(await routedBy(rule('tried', { mode: 'monitor' }))).toEqual({
		status: 200,
		hosts: ['b'],
		monitored: ['route_changed'],
		route,
		counted: ['tollgate_monitored_total{code="route_changed"} 1', 'tollgate_monitored_routes_total{rule="tried",target="changed"} 1'],
	});
});

it('a monitored rule with the target of today changes nothing', async () => {
	const found = await routedBy(rule('tried', { mode: 'monitor', targets: [gpt] }));
	expect([found.monitored, found.route?.model]).toEqual([undefined, 'gpt-5']);
	expect(found.counted).toEqual(['tollgate_monitored_routes_total{rule="tried",target="same"} 1']);
});

it('a monitored rule behind an enforced one does not decide', async () => {
	const found = await routedBy(rule('first', { targets: [gpt] }), rule('tried', { mode: 'monitor' }));
	expect(found).toMatchObject({ hosts: ['b'], monitored: undefined, route: undefined, counted: [] });
});

it('a monitored rule before an enforced one is compared with its target', async () => {
	const found = await routedBy(rule('tried', { mode: 'monitor' }), rule('second', { targets: [gpt] }));
	expect(found).toMatchObject({ hosts: ['b'], monitored: ['route_changed'], route });
});
