/** Webhooks of a running product: each event by its cause, receivers that fail, restarts and fleets. */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type Deployment, planProduct, requestStatus, type Settings, startPlan, statusOf } from '../support/deployment.ts';
import { runTollgate } from '../support/processes.ts';
import { eventually, freePort } from '../support/product.ts';
import { shareRedis } from '../support/shared-stores.ts';

const secret = 'canary-secret-of-the-webhook';

interface ReceivedEvent {
	readonly id: string;
	readonly event: string;
	readonly data: Readonly<Record<string, unknown>>;
}

interface Receiver {
	readonly port: number;
	readonly events: readonly ReceivedEvent[];
	/** Statuses of the next responses; 204 after them. */
	readonly next: number[];
	/** Events that were responded to with an error. */
	readonly failed: readonly ReceivedEvent[];
	named(event: string): readonly ReceivedEvent[];
}

async function startReceiver(port: number): Promise<Receiver> {
	const events: ReceivedEvent[] = [];
	const failed: ReceivedEvent[] = [];
	const next: number[] = [];
	const server = createServer((incoming, outgoing) => {
		const pieces: Buffer[] = [];
		incoming.on('data', (piece: Buffer) => void pieces.push(piece));
		incoming.on('end', () => {
			const body = Buffer.concat(pieces).toString();
			const [, seconds, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(incoming.headers['x-tollgate-signature'])) ?? [];
			const isAuthentic = mac === createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
			const status = isAuthentic ? (next.shift() ?? 204) : 401;
			(status === 204 ? events : failed).push(JSON.parse(body) as ReceivedEvent);
			outgoing.writeHead(status).end();
		});
	});
	await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return { port, events, next, failed, named: (event) => events.filter((one) => one.event === event) };
}

const webhookTo = (port: number, extra: Settings = {}): Settings => ({
	name: 'ops',
	url: `http://127.0.0.1:${port}/in`,
	secret,
	allow_private_network: true,
	...extra,
});

/** Spends until requests are rejected. */
async function spendAll({ gatewayUrl }: Deployment, accessToken: string): Promise<void> {
	await eventually('the budget is exceeded', async () => ((await requestStatus(gatewayUrl, accessToken)) === 429 ? true : undefined));
}

const smallBudget = { enterprise: { monthly_budget_usd: '0.0005' } };

test('a budget is reported once at each threshold, by a fleet of workers, to a receiver that fails at first', {
	timeout: 90_000,
}, async () => {
	const redis = await shareRedis();
	onTestFinished(() => redis.stop());
	const receiver = await startReceiver(await freePort());
	receiver.next.push(500, 503);
	const plan = await planProduct({
		gateway: { workers: 2 },
		stores: { counters: redis.url },
		tiers: smallBudget,
		webhooks: [webhookTo(receiver.port)],
	});
	const product = await startPlan(plan);
	const accessToken = await product.accessToken();
	await spendAll(product, accessToken);
	await Promise.all(Array.from({ length: 20 }, () => requestStatus(product.gatewayUrl, accessToken)));
	await eventually('both events arrive', () => (receiver.events.length >= 2 ? true : undefined), 30_000);
	expect(receiver.failed).toHaveLength(2);
	expect(receiver.events.map(({ event }) => event).toSorted()).toEqual(['budget.exceeded', 'budget.warning']);
	expect(receiver.named('budget.exceeded')[0]?.data).toMatchObject({ team: 'agent', window: 'month', limit_usd: '0.0005', enforced: true });
	const listed = await runTollgate(['webhook', 'deliveries', '--config', plan.configPath, '--json']);
	expect((JSON.parse(listed.stdout) as { event: string; state: string }[]).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
	for (const text of [product.stdout, product.stderr, listed.stdout]) expect(text).not.toContain(secret);
});

test('a provider that fails is reported when it is ejected and when it is back', { timeout: 60_000 }, async () => {
	const receiver = await startReceiver(await freePort());
	const product = await startPlan(
		await planProduct({ webhooks: [webhookTo(receiver.port, { events: ['provider.ejected', 'provider.recovered'] })] }),
	);
	const accessToken = await product.accessToken();
	await fetch(`${product.simulatorUrl}/_simulator/outage`, { method: 'POST', body: JSON.stringify({ seconds: 2 }) }).catch(() => undefined);
	await eventually('the simulator is gone', async () => ((await statusOf(`${product.simulatorUrl}/healthz`)) === 0 ? true : undefined));
	for (let index = 0; index < 6; index++) await requestStatus(product.gatewayUrl, accessToken);
	await eventually('the ejection arrives', () => receiver.named('provider.ejected')[0]);
	await eventually('requests are served again', async () =>
		(await requestStatus(product.gatewayUrl, accessToken)) === 200 ? true : undefined,
	);
	await eventually('the recovery arrives', () => receiver.named('provider.recovered')[0]);
	expect(receiver.events.map(({ event, data }) => [event, data['provider']])).toEqual([
		['provider.ejected', 'provider_b'],
		['provider.recovered', 'provider_b'],
	]);
});

test('what could not be delivered is delivered after a restart', { timeout: 60_000 }, async () => {
	const port = await freePort();
	const plan = await planProduct({ tiers: smallBudget, webhooks: [webhookTo(port)] });
	const first = await startPlan(plan);
	await spendAll(first, await first.accessToken());
	await first.logged('webhook delivery failed: it is tried again', ({ reason }) => reason === 'unreachable');
	first.child.kill('SIGTERM');
	expect(await first.ended).toEqual({ code: 0, signal: null });
	const receiver = await startReceiver(port);
	const second = await startPlan(plan);
	await eventually('both events arrive', () => (receiver.events.length >= 2 ? true : undefined), 30_000);
	expect(receiver.events.map(({ event }) => event).toSorted()).toEqual(['budget.exceeded', 'budget.warning']);
	second.child.kill('SIGTERM');
	await second.ended;
});

test('credentials that expire soon are reported, and a test event is sent from the command line', { timeout: 60_000 }, async () => {
	const receiver = await startReceiver(await freePort());
	const expiresAt = new Date(Date.now() + 5 * 24 * 3_600_000).toISOString();
	const base = await planProduct();
	const plan = await planProduct({
		providers: { ...(base.settings['providers'] as Settings), spare: spareProvider(expiresAt) },
		webhooks: [webhookTo(receiver.port, { events: ['credential.expiring'] })],
	});
	await startPlan(plan);
	const [event] = await eventually('the expiry arrives', () => {
		const found = receiver.named('credential.expiring');
		return found.length > 0 ? found : undefined;
	});
	expect(event?.data).toMatchObject({ kind: 'provider_key', name: 'spare', expires_at: expiresAt });
	const sent = await runTollgate(['webhook', 'test', 'ops', '--config', plan.configPath]);
	expect([sent.code, receiver.named('webhook.test').length]).toEqual([0, 1]);
	receiver.next.push(500);
	const failed = await runTollgate(['webhook', 'test', 'ops', '--config', plan.configPath]);
	expect([failed.code, failed.stderr]).toEqual([2, expect.stringContaining('not delivered: status 500')]);
	const unknown = await runTollgate(['webhook', 'test', 'none', '--config', plan.configPath]);
	expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('`none` is not in the configuration')]);
	const list = await runTollgate(['webhook', 'list', '--config', plan.configPath]);
	expect(list.stdout).toContain(`http://127.0.0.1:${receiver.port}/in`);
	expect(list.stdout + sent.stdout).not.toContain(secret);
});

function spareProvider(expiresAt: string): Settings {
	return { kind: 'openai', api_key: 'spare-key', api_key_expires_at: expiresAt };
}
