/** Providers behind a proxy, and all of them over undici: a complete product, in a separate process. */
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { call, planProduct, startPlan, writeSettings } from '../support/deployment.ts';
import { readStream } from '../support/read-stream.ts';

/** Forwards requests for any host to the simulator. */
async function startForwardingProxy(
	simulatorUrl: string,
): Promise<{ readonly url: string; readonly requested: [string | undefined, string | undefined][] }> {
	const requested: [string | undefined, string | undefined][] = [];
	const server = createServer((incoming, outgoing) => {
		requested.push([incoming.url, incoming.headers['proxy-authorization']]);
		const { pathname, search } = new URL(incoming.url ?? '');
		const { 'proxy-authorization': _, ...headers } = incoming.headers;
		const forwarded = request(`${simulatorUrl}${pathname}${search}`, { method: incoming.method, headers }, (response: IncomingMessage) => {
			outgoing.writeHead(response.statusCode ?? 502, response.headers);
			response.pipe(outgoing);
		});
		forwarded.on('error', () => outgoing.destroy());
		incoming.pipe(forwarded);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return { url: `http://gate:hush-hush@127.0.0.1:${(server.address() as AddressInfo).port}`, requested };
}

test('a proxy of the environment serves providers elsewhere, and those of this machine are reached without it', async () => {
	const plan = await planProduct({ gateway: { http_client: 'undici' } });
	const proxy = await startForwardingProxy(plan.simulatorUrl);
	const providers = plan.settings['providers'] as Record<string, object>;
	const elsewhere = {
		...plan.settings,
		providers: { ...providers, provider_b: { ...providers['provider_b'], base_url: 'http://llm.test/openai/v1' } },
	};
	writeSettings(plan.configPath, elsewhere);
	const product = await startPlan(plan, { env: { HTTP_PROXY: proxy.url } });
	const accessToken = await product.accessToken();

	const whole = await call(product.gatewayUrl, accessToken);
	expect(whole.status).toBe(200);
	expect(await whole.json()).toMatchObject({ object: 'chat.completion' });
	const { text, isBroken } = await readStream(await call(product.gatewayUrl, accessToken, { isStreaming: true }));
	expect([isBroken, text.trimEnd().endsWith('data: [DONE]')]).toEqual([false, true]);
	expect(proxy.requested).toEqual(
		Array.from({ length: 2 }, () => ['http://llm.test/openai/v1/chat/completions', `Basic ${btoa('gate:hush-hush')}`]),
	);

	const near = await call(product.gatewayUrl, accessToken, { format: 'messages' });
	expect(near.status).toBe(200);
	await near.text();
	expect(proxy.requested).toHaveLength(2);

	product.child.kill('SIGTERM');
	expect(await product.ended).toEqual({ code: 0, signal: null });
	expect(product.stderr).toBe('');
	expect(product.stdout).not.toMatch(/hush|Basic/);
	expect(product.stdout).not.toContain(btoa('gate:hush-hush'));
});
