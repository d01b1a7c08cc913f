/** One line per request with the fields that operators need, and without prompts or completions. */
import { expect, test } from 'vitest';
import { call, client, type Deployment, requestStatus, startDeployment } from '../support/deployment.ts';
import { eventually } from '../support/product.ts';
import { readStream } from '../support/read-stream.ts';

/** Log lines of inference requests so far, in order. */
function lines(product: Deployment): Record<string, unknown>[] {
	return product.log.filter((line) => line['msg'] === 'request' && String(line['path']).startsWith('/v1/'));
}

/** Waits for the next log line after the existing ones. */
async function lineOf(product: Deployment, cause: () => Promise<unknown>): Promise<Record<string, unknown>> {
	const before = lines(product).length;
	await cause();
	return eventually('the line of the request', () => lines(product)[before]);
}

const always = {
	level: 'info',
	time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
	requestId: expect.stringMatching(/^req_/) as unknown,
	method: 'POST',
	durationMs: expect.any(Number) as unknown,
	requestBytes: expect.any(Number) as unknown,
	responseBytes: expect.any(Number) as unknown,
	peer: '127.0.0.1',
};

test('each way that a request can end has one line with the promised fields', async () => {
	const prompt = 'A canary in the prompt, 7291';
	const product = await startDeployment({ gateway: { timeouts: { first_byte_ms: 200 } } });
	const { gatewayUrl } = product;
	const accessToken = await product.accessToken();
	const known = { clientId: client.id, team: client.id };
	const provider = { ...known, provider: 'provider_b', model: 'gpt-4o-mini' };
	const ask = async (options: Parameters<typeof call>[2] = {}): Promise<Response> => {
		const response = await call(gatewayUrl, accessToken, { text: prompt, ...options });
		await response
			.clone()
			.text()
			.catch(() => undefined);
		return response;
	};

	const started = Date.now();
	let id = '';
	const success = await lineOf(product, async () => {
		id = (await ask()).headers.get('x-request-id') ?? '';
	});
	expect(success).toMatchObject({
		...always,
		...provider,
		path: '/v1/chat/completions',
		status: 200,
		outcome: 'complete',
		upstreamStatus: 200,
		isStreaming: false,
		firstByteMs: expect.any(Number) as unknown,
		requestId: id,
	});
	expect(success).not.toHaveProperty('code');
	expect(Date.parse(String(success['time']))).toBeGreaterThanOrEqual(started);

	const stream = await lineOf(product, async () => readStream(await ask({ format: 'messages', isStreaming: true })));
	expect(stream).toMatchObject({
		...always,
		...known,
		provider: 'provider_a',
		model: 'claude-sonnet-4-5',
		path: '/v1/messages',
		status: 200,
		outcome: 'complete',
		isStreaming: true,
	});
	expect(stream['responseBytes']).toBeGreaterThan(500);

	const rejected = await lineOf(product, () => requestStatus(gatewayUrl, 'no.such.token'));
	expect(rejected).toMatchObject({ ...always, status: 401, outcome: 'rejected', code: 'token_invalid' });
	expect(rejected).not.toHaveProperty('clientId');

	const mistaken = await lineOf(product, () => ask({ headers: { 'content-type': 'text/plain' } }));
	expect(mistaken).toMatchObject({ ...always, ...known, status: 415, outcome: 'rejected', code: 'media_type_unsupported' });

	const invalid = await lineOf(product, () => ask({ model: '' }));
	expect(invalid).toMatchObject({ ...always, ...known, status: 400, code: 'field_invalid' });

	const passed = await lineOf(product, () => ask({ model: 'gpt-sim-429' }));
	expect(passed).toMatchObject({ ...always, ...known, provider: 'provider_b', status: 429, upstreamStatus: 429, outcome: 'complete' });

	const failed = await lineOf(product, () => ask({ model: 'gpt-sim-500' }));
	expect(failed).toMatchObject({ ...always, ...known, status: 502, upstreamStatus: 500, outcome: 'failed', code: 'provider_failed' });

	const unreachable = await lineOf(product, () => ask({ model: 'gpt-sim-reset' }));
	expect(unreachable).toMatchObject({ ...always, ...known, status: 502, code: 'provider_unreachable' });

	const late = await lineOf(product, () => ask({ model: 'gpt-sim-hang', isStreaming: true }));
	expect(late).toMatchObject({ ...always, ...known, status: 504, code: 'provider_first_byte_timeout' });

	const cut = await lineOf(product, async () => readStream(await ask({ model: 'gpt-sim-cut-after-2', isStreaming: true })));
	expect(cut).toMatchObject({ ...always, ...known, status: 200, code: 'provider_disconnected', isStreaming: true });

	const left = await lineOf(product, async () => {
		const controller = new AbortController();
		const response = await call(gatewayUrl, accessToken, {
			model: 'gpt-sim-stall-3',
			isStreaming: true,
			text: prompt,
			signal: controller.signal,
		});
		expect(response.status).toBe(200);
		controller.abort();
	});
	expect(left).toMatchObject({ ...always, ...known, status: 200, outcome: 'client_closed', code: 'client_closed', isStreaming: true });

	const disconnectedEarly = await lineOf(product, async () => {
		const controller = new AbortController();
		setTimeout(() => controller.abort(), 50);
		await call(gatewayUrl, accessToken, { model: 'gpt-sim-slow-first-byte-10000', text: prompt, signal: controller.signal }).catch(
			() => undefined,
		);
	});
	expect(disconnectedEarly).toMatchObject({ ...always, ...known, status: 499, outcome: 'client_closed', code: 'client_closed' });

	const unknownPath = await lineOf(product, () =>
		fetch(`${gatewayUrl}/v1/nothing?key=canary-in-the-query`, { headers: { authorization: `Bearer ${accessToken}` } }),
	);
	expect(unknownPath).toMatchObject({ ...always, method: 'GET', path: '/v1/nothing', status: 404, code: 'path_unknown' });

	expect(lines(product)).toHaveLength(13);
	expect(new Set(lines(product).map((line) => line['requestId'])).size).toBe(13);
	expect(product.stdout + product.stderr).not.toContain('canary');
});

test('health checks are logged at level debug only', async () => {
	const product = await startDeployment();
	for (const path of ['/', '/healthz', '/readyz']) expect((await fetch(product.gatewayUrl + path)).status).toBe(200);
	await requestStatus(product.gatewayUrl, await product.accessToken());
	await product.logged('request', (line) => line['path'] === '/v1/chat/completions');
	expect(product.log.filter((line) => line['msg'] === 'request').map((line) => line['path'])).toEqual(['/v1/chat/completions']);
	expect(product.log.filter((line) => line['msg'] === 'access token issued')).toMatchObject([
		{ clientId: client.id, scope: 'tollgate/invoke' },
	]);
});
