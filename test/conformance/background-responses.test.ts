/** Background responses with `responses.state: owner`: owned by their team, and booked once with what the provider bills. */
import OpenAI from 'openai';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LedgerEntry } from '../../src/stores/contracts/ledger.ts';
import { readLedger, readLimits } from '../support/ledger-view.ts';
import { eventually, type Product } from '../support/product.ts';
import { openAiLines } from '../support/sdk-lines.ts';
import { openOpenAi } from './open-sdk.ts';
import { describeOwn, useSubject } from './subject.ts';

/** Takes long enough to be seen while it runs. */
const slow = 'gpt-4o-sim-slow-first-event-1500';
const endless = 'gpt-4o-sim-slow-first-event-600000';

describeOwn('background responses', 'our simulator', () => {
	const subject = useSubject({
		responses: { state: 'owner', max_background: 2 },
		budgets: { unknown_price: 'default_rate' },
		tiers: { enterprise: { monthly_budget_usd: '1000.00' } },
	});
	// Hides warnings: by date, the SDKs warn of old models.
	beforeAll(() => {
		const silenced = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
		return () => silenced.mockRestore();
	});
	let product: Product;
	let before: readonly LedgerEntry[] = [];
	const entries = async (): Promise<readonly LedgerEntry[]> => (await readLedger(product.dataDirectory, 'agent')).rows;
	beforeEach(async () => {
		if (subject.current.product === undefined) throw new Error('the test needs a product of its own');
		({ product } = subject.current);
		before = await entries();
	});
	const isReserved = async (): Promise<boolean> =>
		(await readLimits(product.gatewayUrl, await product.accessToken())).budgets.some(({ reservedNanoUsd }) => reservedNanoUsd > 0n);

	/** Returns the only entry since the start of the test, once it is closed. */
	async function booked(): Promise<LedgerEntry> {
		const known = new Set(before.map(({ id }) => id));
		return eventually('the response is booked', async () => {
			const fresh = (await entries()).filter(({ id }) => !known.has(id));
			expect(fresh.length).toBeLessThanOrEqual(1);
			const [entry] = fresh;
			return entry?.closed === undefined ? undefined : entry;
		});
	}

	/** Expects that the entry has what the simulator billed for its newest request. */
	async function expectBilled({ closed }: LedgerEntry, outcome: string): Promise<void> {
		const billed = (await subject.current.simulator.requests('?limit=100000')).find(({ path }) => path === '/openai/v1/responses');
		expect([billed?.outcome, billed?.tokens.input, billed?.tokens.output]).toEqual([
			outcome,
			closed?.usage.inputTokens,
			closed?.usage.outputTokens,
		]);
		expect(closed?.isEstimated).toBe(false);
	}

	describe.each(openAiLines)('%s', (_line, Client) => {
		it('is reserved while it runs, and booked once with what the provider bills', async () => {
			const client = await openOpenAi(Client, subject.current);
			const created = await client.responses.create({ model: slow, input: 'Say hello.', background: true });
			expect(created).toMatchObject({ status: 'queued', usage: null });
			expect(await isReserved()).toBe(true);
			await eventually(
				'the response is complete',
				async () => (await client.responses.retrieve(created.id)).status === 'completed' || undefined,
			);
			await client.responses.retrieve(created.id);
			await expectBilled(await booked(), 'complete');
			expect(await isReserved()).toBe(false);
		});

		it('is booked once although the client deletes it right after its end', async () => {
			const client = await openOpenAi(Client, subject.current);
			const { id } = await client.responses.create({ model: 'gpt-4o', input: 'Say hello.', background: true });
			await eventually('the response is complete', async () => (await client.responses.retrieve(id)).status === 'completed' || undefined);
			await client.responses.delete(id);
			await expectBilled(await booked(), 'complete');
		});

		it('ends when the client cancels it', async () => {
			const client = await openOpenAi(Client, subject.current);
			const { id } = await client.responses.create({ model: endless, input: 'Say hello.', background: true });
			expect((await client.responses.cancel(id)).status).toBe('cancelled');
			expect((await booked()).closed).toMatchObject({ outcome: 'client_closed', isEstimated: true });
			expect(await isReserved()).toBe(false);
		});

		it('is booked completely although the client disconnects from its stream', async () => {
			const client = await openOpenAi(Client, subject.current);
			const events = await client.responses.create({
				model: 'gpt-4o-sim-interval-20',
				input: 'Say hello.',
				background: true,
				stream: true,
			});
			for await (const event of events) if (event.type === 'response.output_text.delta') break;
			await expectBilled(await booked(), 'complete');
		});

		it('is unknown to another team', async () => {
			const client = await openOpenAi(Client, subject.current);
			const { id } = await client.responses.create({ model: endless, input: 'Say hello.', background: true });
			const other = client.withOptions({ apiKey: await product.accessToken(subject.current.adminClient) });
			for (const attempt of [() => other.responses.retrieve(id), () => other.responses.cancel(id), () => other.responses.delete(id)]) {
				expect(await attempt().catch((cause: unknown) => cause)).toBeInstanceOf(Client.NotFoundError);
			}
			await client.responses.cancel(id);
			await booked();
		});
	});

	it('is rejected beyond the limit of the process, until one ends', async () => {
		const client = await openOpenAi(OpenAI, subject.current);
		const create = async () => client.responses.create({ model: endless, input: 'Say hello.', background: true });
		const running = [await create(), await create()];
		const failure = await create().catch((cause: unknown) => cause);
		expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
		expect(failure).toMatchObject({ param: 'background', error: { gateway_code: 'background_limit_exceeded' } });
		for (const { id } of running) await client.responses.cancel(id);
		const { id } = await eventually('a slot', () => create().catch(() => undefined));
		await client.responses.cancel(id);
		await eventually('nothing is reserved', async () => !(await isReserved()) || undefined);
	});
});
