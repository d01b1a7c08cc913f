/** Overload and shutdown of real processes, in brief: requests above the limit are rejected at once, and those in flight complete. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, planProduct, requestStatus, startPlan, statusOf } from '../support/deployment.ts';
import { readLedger } from '../support/ledger-view.ts';
import { eventually, freePort } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';

const ending = { chat: /\ndata: \[DONE\]\n\n$/, messages: /\nevent: message_stop\ndata: \{"type":"message_stop" *\}\n\n$/ };

test('without a free slot, 503 before anything else; open streams continue, health and admin respond', async () => {
	const places = 20;
	const adminPort = await freePort();
	const plan = await planProduct({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${adminPort}` },
		edge: { overload: { max_in_flight: places, loop_delay_ms: 60_000 } },
	});
	const product = await startPlan(plan);
	const { gatewayUrl } = product;
	const token = await product.accessToken();
	const streams = await Promise.all(
		Array.from({ length: places }, async (_, index) => {
			const format = index % 2 === 0 ? 'chat' : 'messages';
			const model = `${format === 'chat' ? 'gpt' : 'claude'}-sim-tokens-100-interval-20`;
			const response = await call(gatewayUrl, token, { format, model, isStreaming: true });
			expect(response.status).toBe(200);
			return { format, read: readStream(response) } as const;
		}),
	);
	const rejected = await Promise.all(Array.from({ length: 50 }, () => call(gatewayUrl, token)));
	for (const response of rejected) {
		expect([response.status, response.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
		expect(await response.text()).toContain('<');
	}
	// Rejected before authentication, so an invalid token gets the same response.
	expect(await requestStatus(gatewayUrl, 'no.such.token')).toBe(503);
	for (const path of ['/', '/healthz', '/readyz']) expect(await statusOf(gatewayUrl + path)).toBe(200);
	expect((await fetch(`http://127.0.0.1:${adminPort}/teams`, { headers: { authorization: `Bearer ${token}` } })).status).not.toBe(503);
	for (const { format, read } of streams) {
		const { text, isBroken } = await read;
		expect(isBroken).toBe(false);
		expect(text).toMatch(ending[format]);
	}
	expect(await eventually('there is room again', async () => ((await requestStatus(gatewayUrl, token)) === 200 ? true : undefined))).toBe(
		true,
	);
	const shed = product.log.filter((line) => line['msg'] === 'request' && line['code'] === 'overloaded');
	expect(shed).toHaveLength(51);
	expect(shed.filter((line) => Number(line['durationMs']) > 1000)).toEqual([]);
}, 30_000);

test('SIGTERM under 200 streams: each ends as its format says, every request is in the ledger once, exit code 0', async () => {
	const metricsPort = await freePort();
	const plan = await planProduct({ gateway: { shutdown_grace_ms: 3000 }, metrics: { listen: `127.0.0.1:${metricsPort}` } });
	const product = await startPlan(plan);
	const token = await product.accessToken();
	const streams = await Promise.all(
		Array.from({ length: 200 }, async (_, index) => {
			const format = index % 2 === 0 ? 'chat' : 'messages';
			// Three of four streams end within the grace period; the others stall.
			const faults = index % 4 < 3 ? 'tokens-50-interval-20' : 'stall-3';
			const model = `${format === 'chat' ? 'gpt' : 'claude'}-sim-${faults}`;
			const response = await call(product.gatewayUrl, token, { format, model, isStreaming: true });
			expect(response.status).toBe(200);
			return { format, isSilent: faults === 'stall-3', read: readStream(response) } as const;
		}),
	);
	product.child.kill('SIGTERM');
	let ended = 0;
	for (const { format, isSilent, read } of streams) {
		const { text, isBroken } = await read;
		expect(isBroken).toBe(false);
		if (text.includes('"draining"')) {
			const last = text.trimEnd().split('\n\n').at(-1) ?? '';
			expect(JSON.parse(/^data: (.*)$/m.exec(last)?.[1] ?? 'null')).toMatchObject({ error: { code: 'draining' } });
			ended++;
		} else {
			expect(isSilent).toBe(false);
			expect(text).toMatch(ending[format]);
		}
	}
	expect(ended).toBeGreaterThanOrEqual(50);
	expect(await product.ended).toEqual({ code: 0, signal: null });
	expect(product.stderr).toBe('');
	const calls = product.log.filter((line) => line['msg'] === 'request' && line['isStreaming'] === true);
	expect(calls).toHaveLength(200);

	const { rows, differences } = await readLedger(join(plan.directory, 'data'), String(calls[0]?.['team']));
	expect(differences).toEqual([]);
	expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(calls.map((line) => line['requestId'])));
	expect(rows).toHaveLength(200);
	expect(rows.filter(({ closed }) => closed === undefined || closed.usage.outputTokens === 0)).toEqual([]);
}, 60_000);

test('a flood of wrong secrets at the token endpoint: few are checked, others are rejected at once, known clients are not', async () => {
	const plan = await planProduct({ identity: { max_attempts_per_minute: 100_000 } });
	const product = await startPlan(plan);
	const endpoint = `${plan.identityUrl}/oauth2/token`;
	const token = await product.accessToken();
	const guess = async (index: number): Promise<number> => {
		const form = { grant_type: 'client_credentials', client_id: `agent-${index}`, client_secret: `wrong-${index}` };
		const response = await fetch(endpoint, { method: 'POST', body: new URLSearchParams(form) });
		await response.arrayBuffer();
		expect(response.status === 503 ? response.headers.get('retry-after') : '1').toBe('1');
		return response.status;
	};
	const flood = Promise.all(Array.from({ length: 400 }, (_, index) => guess(index)));
	// Valid credentials that were verified before skip the queue.
	for (let times = 0; times < 3; times++) await product.accessToken();
	expect(await requestStatus(product.gatewayUrl, token)).toBe(200);
	const statuses = await flood;
	const [checked, shed] = [401, 503].map((status) => statuses.filter((one) => one === status).length);
	expect((checked ?? 0) + (shed ?? 0)).toBe(400);
	expect(checked).toBeGreaterThanOrEqual(66);
	expect(shed).toBeGreaterThan(100);
}, 30_000);
