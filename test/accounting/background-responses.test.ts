/** Background responses of two gateways with one ledger: each is booked once, also after the death of its gateway. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { billedCounts } from '../support/accounting-bill.ts';
import { startFleet } from '../support/accounting-fleet.ts';
import { readLedger, readLimits } from '../support/ledger-view.ts';
import { eventually } from '../support/product.ts';

interface Answer {
	readonly status: number;
	readonly id: string;
	readonly state: string;
}

async function ask(url: string, accessToken: string, method: string, below: string, members?: object): Promise<Answer> {
	const response = await fetch(`${url}/v1/responses${below}`, {
		method,
		headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
		...(members !== undefined && { body: JSON.stringify({ input: 'Say hello.', background: true, ...members }) }),
	});
	const { id, status } = (await response.json()) as { id: string; status: string };
	return { status: response.status, id, state: status };
}

test('two gateways book each response once, and a killed one is charged the reservation', { timeout: 90_000 }, async () => {
	const fleet = await startFleet({
		teams: { background: { monthlyBudgetUsd: '1000' } },
		clockErrors: [0, 0],
		budgets: { unknown_price: 'default_rate' },
		responses: { state: 'owner' },
	});
	onTestFinished(() => fleet.close());
	const [one, other] = fleet.gateways;
	if (one === undefined || other === undefined) throw new Error('the fleet has fewer than two gateways');
	const accessToken = fleet.tokenOf('background');
	const ledger = () => readLedger(fleet.dataDir, 'background');

	// Created at one gateway, and read at the other.
	const models = ['gpt-4o', 'gpt-4o-sim-slow-first-event-1000', 'gpt-4o-sim-slow-first-event-3000'];
	const created = await Promise.all(models.map((model) => ask(one.url, accessToken, 'POST', '', { model })));
	expect(created.map(({ status }) => status)).toEqual([200, 200, 200]);
	for (const { id } of created) {
		await eventually('the response is complete', async () => {
			const { state } = await ask(other.url, accessToken, 'GET', `/${id}`);
			return state === 'completed' || undefined;
		});
	}
	const { rows, differences } = await eventually('the responses are booked', async () => {
		const view = await ledger();
		return view.rows.every(({ closed }) => closed !== undefined) ? view : undefined;
	});
	expect([rows.length, differences]).toEqual([3, []]);
	const billed = (await fleet.simulator.requests()).filter(({ outcome, tokens }) => outcome === 'complete' && tokens.input > 0);
	expect(
		rows.map(({ closed }) => [closed?.usage.inputTokens, closed?.usage.outputTokens, closed?.isEstimated].join(' ')).toSorted(),
	).toEqual(billed.map((request) => [billedCounts(request).input, request.tokens.output, false].join(' ')).toSorted());

	// The gateway that follows the response dies.
	const lost = await ask(one.url, accessToken, 'POST', '', { model: 'gpt-4o-sim-slow-first-event-600000' });
	expect(lost.status).toBe(200);
	await sleep(100);
	await one.kill();
	await one.start();
	const interrupted = await eventually('the entry is closed', async () =>
		(await ledger()).rows.find(({ closed }) => closed?.outcome === 'interrupted'),
	);
	expect(interrupted.reservedNanoUsd).toBeGreaterThan(0n);
	expect(interrupted.closed).toMatchObject({ isEstimated: true, costNanoUsd: interrupted.reservedNanoUsd });
	expect((await ask(other.url, accessToken, 'POST', `/${lost.id}/cancel`)).state).toBe('cancelled');
	expect((await ledger()).rows).toHaveLength(4);
	expect((await readLimits(one.url, accessToken)).budgets[0]?.reservedNanoUsd).toBe(0n);
});
