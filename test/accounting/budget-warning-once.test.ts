/** Budget warnings are sent once per threshold, even if the gateway that sent one is killed: before, after and during the crossing. */
import { expect, onTestFinished, test } from 'vitest';
import { type Fleet, type Gateway, startFleet } from '../support/accounting-fleet.ts';
import { plainCounts, reckonNanoUsd, usdOf } from '../support/accounting-prices.ts';
import { type Caller, callGateway, createCaller } from '../support/accounting-request.ts';
import { untilNothingReserved } from '../support/ledger-view.ts';
import { eventually } from '../support/product.ts';
import { shareRedis } from '../support/shared-stores.ts';

const model = 'gpt-4o';
/** Output tokens, so many that the input's share of the reservation is negligible. */
const outputTokens = 4000;
const inputTokens = 6;
const costNanoUsd = reckonNanoUsd(model, plainCounts(inputTokens, outputTokens));
const tenRequests = { monthlyBudgetUsd: usdOf(10n * costNanoUsd) };

test.for(['memory', 'redis'] as const)('with counters in %s', { timeout: 60_000 }, async (counters) => {
	const fleet = await openFleet(counters);
	const [gateway] = fleet.gateways;
	if (gateway === undefined) throw new Error('a fleet of none');
	const restarted = openTeam(fleet, gateway, 'restarted');
	const interrupted = openTeam(fleet, gateway, 'interrupted');
	for (const team of [restarted, interrupted]) await team.spend(7);
	expect(restarted.warnings() + interrupted.warnings()).toBe(0);

	await fleet.simulator.clearFaults();
	await fleet.simulator.addFaults({ fault: 'stall-1' });
	await interrupted.begin();
	await gateway.kill();
	await fleet.simulator.clearFaults();
	await fleet.simulator.addFaults({ fault: `tokens-${outputTokens}` });
	await gateway.start();
	await restarted.spend(1);
	// Crossed by the reservation of a request whose gateway was killed, and by a completed request.
	for (const team of [interrupted, restarted]) await eventually('it is warned of', () => team.warnings() > 0 || undefined, 20_000);

	await gateway.kill();
	await gateway.start();
	for (const team of [restarted, interrupted]) await team.spend(1);
	expect([restarted.warnings(), interrupted.warnings()]).toEqual([1, 1]);
});

async function openFleet(counters: 'memory' | 'redis'): Promise<Fleet> {
	const redis = counters === 'redis' ? await shareRedis() : undefined;
	onTestFinished(() => redis?.stop());
	const fleet = await startFleet({
		teams: { restarted: tenRequests, interrupted: tenRequests },
		counters: redis?.url ?? 'memory',
		budgets: { reservation: 'worst_case' },
	});
	onTestFinished(() => fleet.close());
	await fleet.simulator.addFaults({ fault: `tokens-${outputTokens}` });
	return fleet;
}

interface TeamAtWork {
	/** Sends requests one after the other, and waits until all are settled. */
	spend(calls: number): Promise<void>;
	/** Starts a request that holds a reservation, has reached its provider, and does not end. */
	begin(): Promise<void>;
	warnings(): number;
}

function openTeam({ tokenOf, simulator }: Fleet, { url, log }: Gateway, name: string): TeamAtWork {
	const caller: Caller = createCaller(tokenOf(name));
	onTestFinished(() => caller.agent.destroy());
	const call = (isStreaming: boolean) => callGateway(url, caller, { format: 'chat', model, isStreaming, capTokens: outputTokens });
	return {
		async spend(calls) {
			for (let index = 0; index < calls; index++) {
				expect((await call(false)).status).toBe(200);
				await untilNothingReserved(url, caller.token);
			}
		},
		async begin() {
			const before = (await simulator.requests()).length;
			void call(true);
			await eventually('it was sent', async () => (await simulator.requests()).length > before || undefined);
		},
		warnings: () => log.filter((line) => line['msg'] === 'budget warning' && line['team'] === name).length,
	};
}
