/** Spec: Errors, 502: providers that are unavailable, and that return. */
import { expect, test } from 'vitest';
import { call, requestStatus, startDeployment, statusOf } from '../support/deployment.ts';
import { eventually } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';

/** Several times the duration of all requests sent within the outage. */
const outageMs = 3000;

test('an outage of every provider: 502 at once, streams end with an error event, service again right after', async () => {
	const product = await startDeployment();
	const { gatewayUrl, simulatorUrl } = product;
	const accessToken = await product.accessToken();
	const startOutage = (seconds: number): Promise<Response> =>
		fetch(`${simulatorUrl}/_simulator/outage`, { method: 'POST', body: JSON.stringify({ seconds }) });
	expect(await requestStatus(gatewayUrl, accessToken)).toBe(200);
	const streams = [
		await call(gatewayUrl, accessToken, { model: 'gpt-sim-stall-3', isStreaming: true }),
		await call(gatewayUrl, accessToken, { model: 'claude-sim-stall-3', format: 'messages', isStreaming: true }),
	];
	await startOutage(outageMs / 1000).catch(() => undefined);
	const startedMs = performance.now();
	await eventually('the simulator is gone', async () => ((await statusOf(`${simulatorUrl}/healthz`)) === 0 ? true : undefined), outageMs);

	const page = await call(gatewayUrl, accessToken);
	expect(page.status).toBe(502);
	expect(page.headers.get('content-type')).toContain('text/html');
	await page.text();
	const json = await call(gatewayUrl, accessToken, { format: 'messages', headers: { accept: 'application/json' } });
	expect(json.status).toBe(502);
	expect(await json.json()).toMatchObject({ type: 'error', error: { type: 'api_error', code: 'provider_unreachable' } });
	const tried = await Promise.all(Array.from({ length: 50 }, () => requestStatus(gatewayUrl, accessToken, { isStreaming: true })));
	expect(new Set(tried)).toEqual(new Set([502]));
	expect(performance.now() - startedMs, 'all of this within the outage').toBeLessThan(outageMs);
	for (const stream of streams) {
		const { text, isBroken } = await readStream(stream);
		expect(isBroken).toBe(false);
		expect(text).toMatch(/"code":"provider_disconnected".*\n\n$/);
	}
	expect(await statusOf(`${gatewayUrl}/readyz`), 'a provider’s outage is not the gateway’s').toBe(200);

	await eventually('service again', async () => ((await requestStatus(gatewayUrl, accessToken)) === 200 ? true : undefined), 5000);
	expect(performance.now() - startedMs).toBeLessThan(outageMs + 1500);
	const healed = await Promise.all(Array.from({ length: 20 }, () => requestStatus(gatewayUrl, accessToken, { format: 'messages' })));
	expect(new Set(healed)).toEqual(new Set([200]));
});

test('outages that follow each other: the last one counts, and a stop in the middle is a clean stop', async () => {
	const product = await startDeployment();
	const startOutage = (seconds: number): Promise<unknown> =>
		fetch(`${product.simulatorUrl}/_simulator/outage`, { method: 'POST', body: JSON.stringify({ seconds }) }).catch(() => undefined);
	await Promise.all([startOutage(0.2), startOutage(0.2)]);
	await eventually('it is back', async () => ((await statusOf(`${product.simulatorUrl}/healthz`)) === 200 ? true : undefined));
	await startOutage(600);
	await eventually('it is gone', async () => ((await statusOf(`${product.simulatorUrl}/healthz`)) === 0 ? true : undefined));
	product.child.kill('SIGTERM');
	expect(await product.ended).toEqual({ code: 0, signal: null });
	expect(product.stderr).toBe('');
});
