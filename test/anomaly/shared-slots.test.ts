/** One team floods a provider with few slots; another team gets its share. */
import { expect, test } from 'vitest';
import { agent, eventually, operator, startProduct } from '../support/product.ts';

const slots = 4;
/** Concurrent requests of each team. The other team stays below half of slots and queue, and always has a waiting request. */
const flood = 40;
const modest = 8;
/** Total requests of the other team. */
const wanted = 40;

test('a team that floods a provider takes no more than its share of the slots from another team', async () => {
	const product = await startProduct((simulatorUrl) => ({
		tiers: { enterprise: { rpm: null } },
		providers: {
			narrow: {
				kind: 'openai',
				base_url: `${simulatorUrl}/openai/v1`,
				api_key: 'simulator-key',
				allow_private_network: true,
				max_concurrent: slots,
				max_queued: 4 * slots,
			},
		},
	}));
	try {
		const [flooding, other] = await Promise.all([product.accessToken(agent), product.accessToken(operator)]);
		const ask = async (accessToken: string): Promise<number> => {
			const response = await fetch(`${product.gatewayUrl}/v1/chat/completions`, {
				method: 'POST',
				headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
				body: JSON.stringify({ model: 'narrow/gpt-4o-mini-sim-slow-first-byte-40', messages: [{ role: 'user', content: 'Hello' }] }),
			});
			await response.arrayBuffer();
			return response.status;
		};
		const statuses = { flooding: [] as number[], other: [] as number[] };
		const succeeded = (of: readonly number[]): number => of.filter((status) => status === 200).length;
		let isOver = false;
		const floods = Array.from({ length: flood }, async () => {
			while (!isOver) statuses.flooding.push(await ask(flooding));
		});
		await eventually('the flood fills slots and queue', () => (statuses.flooding.includes(503) ? true : undefined));
		const before = succeeded(statuses.flooding);
		let left = wanted;
		const others = Array.from({ length: modest }, async () => {
			while (left-- > 0) statuses.other.push(await ask(other));
		});
		await Promise.all(others);
		isOver = true;
		const duringShare = succeeded(statuses.flooding) - before;
		await Promise.all(floods);
		expect(statuses.other).toEqual(Array.from({ length: wanted }, () => 200));
		// Two of four slots for each team give about equal counts. The factor of two allows for a busy machine.
		expect(duringShare).toBeLessThanOrEqual(2 * wanted);
		expect(duringShare).toBeGreaterThanOrEqual(wanted / 3);
	} finally {
		await product.stop();
	}
}, 60_000);
