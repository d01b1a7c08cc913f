/** `responses.state: owner` with real processes: owners are shared, survive a crash, and an outage of their store loses no response. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { planProduct, simulatedProviders, startPlan } from '../support/deployment.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { agent, eventually, operator, type Product, startProduct } from '../support/product.ts';

const responses = { state: 'owner' };

interface Answer {
	readonly status: number;
	readonly id: string;
	readonly code: string | undefined;
	readonly param: string | undefined;
}

async function ask(gatewayUrl: string, accessToken: string, method: string, below: string, members?: object): Promise<Answer> {
	const response = await fetch(`${gatewayUrl}/v1/responses${below}`, {
		method,
		headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
		...(members !== undefined && { body: JSON.stringify({ model: 'gpt-5-mini-sim-text', input: 'Say hello.', ...members }) }),
	});
	const { id, error } = (await response.json()) as { id: string; error?: { code: string; param: string } | null };
	return { status: response.status, id, code: error?.code, param: error?.param };
}

const create = (url: string, accessToken: string, members: object = {}): Promise<Answer> => ask(url, accessToken, 'POST', '', members);

describe('two gateways with one PostgreSQL', () => {
	let postgres: PostgresServer;
	let fleet: readonly [Product, Product];

	beforeAll(async () => {
		postgres = await startPostgres('fsync=off');
		const stores = { records: postgres.url };
		const one = await startProduct({ stores, responses });
		const providers = { provider_b: { base_url: `${one.simulatorUrl}/openai/v1` } };
		fleet = [one, await startProduct({ stores, responses, providers })];
	}, 60_000);
	afterAll(async () => {
		await Promise.all(fleet.map((product) => product.stop()));
		await postgres.stop();
	});

	test('a conversation continues at the other one, and is closed to other teams at both', async () => {
		const [one, other] = fleet;
		const [mine, mineThere, foreign, foreignThere] = await Promise.all([
			one.accessToken(agent),
			other.accessToken(agent),
			one.accessToken(operator),
			other.accessToken(operator),
		]);
		const first = await create(one.gatewayUrl, mine);
		expect(first.status).toBe(200);
		const second = await create(other.gatewayUrl, mineThere, { previous_response_id: first.id });
		expect(second.status).toBe(200);
		expect(await ask(one.gatewayUrl, mine, 'GET', `/${second.id}`)).toMatchObject({ status: 200, id: second.id });
		expect((await ask(other.gatewayUrl, mineThere, 'GET', `/${first.id}/input_items`)).status).toBe(200);
		const unknown = { status: 404, code: 'response_not_found' };
		for (const [url, accessToken] of [
			[one.gatewayUrl, foreign],
			[other.gatewayUrl, foreignThere],
		] as const) {
			for (const [method, below] of [
				['GET', ''],
				['GET', '/input_items'],
				['POST', '/cancel'],
				['DELETE', ''],
			] as const) {
				expect(await ask(url, accessToken, method, `/${first.id}${below}`)).toMatchObject(unknown);
			}
			const continued = await create(url, accessToken, { previous_response_id: first.id });
			expect(continued).toMatchObject({ ...unknown, param: 'previous_response_id' });
		}
		expect((await ask(other.gatewayUrl, mineThere, 'DELETE', `/${first.id}`)).status).toBe(200);
		expect(await ask(one.gatewayUrl, mine, 'GET', `/${first.id}`)).toMatchObject(unknown);
	});

	test('without PostgreSQL, responses are served, references return 503, and a response without an owner stays unknown', async () => {
		const [one] = fleet;
		const accessToken = await one.accessToken(agent);
		const before = await create(one.gatewayUrl, accessToken);
		await postgres.kill();
		const during = await create(one.gatewayUrl, accessToken);
		expect(during.status).toBe(200);
		expect(await create(one.gatewayUrl, accessToken, { previous_response_id: before.id })).toMatchObject({
			status: 503,
			code: 'records_unavailable',
		});
		expect(await ask(one.gatewayUrl, accessToken, 'GET', `/${before.id}`)).toMatchObject({ status: 503, code: 'records_unavailable' });
		await postgres.restart();
		await eventually('the owners', async () => {
			const { status } = await ask(one.gatewayUrl, accessToken, 'GET', `/${before.id}`);
			return status === 200 || undefined;
		});
		expect(await ask(one.gatewayUrl, accessToken, 'GET', `/${during.id}`)).toMatchObject({ status: 404, code: 'response_not_found' });
		await eventually('the log line', () =>
			one.log.some((line) => JSON.stringify(line).includes('the owner of a response could not be stored')) ? true : undefined,
		);
	}, 60_000);
});

test('a crash keeps the owners of a data directory', async () => {
	const vendor = await startProduct();
	onTestFinished(async () => void (await vendor.stop()));
	const roles = ['edge', 'gateway', 'identity'];
	const plan = await planProduct({ responses, roles, providers: simulatedProviders(vendor.simulatorUrl) });
	const before = await startPlan(plan);
	const { id } = await create(plan.gatewayUrl, await before.accessToken());
	before.child.kill('SIGKILL');
	await before.ended;
	const after = await startPlan(plan);
	const accessToken = await after.accessToken();
	expect(await ask(plan.gatewayUrl, accessToken, 'GET', `/${id}`)).toMatchObject({ status: 200, id });
	expect((await create(plan.gatewayUrl, accessToken, { previous_response_id: id })).status).toBe(200);
}, 60_000);
