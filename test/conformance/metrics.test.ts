/** Tests `GET /metrics` of a complete product, on the admin address and on a separate one. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { lint, readExposition, type Series, valueOf } from '../support/exposition.ts';
import { eventually, freePort } from '../support/product.ts';
import { chatBody, describeOwn, messagesBody, send, useSubject } from './subject.ts';

const [adminPort, metricsPort] = [await freePort(), await freePort()];
const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;

describeOwn('Prometheus metrics', 'a configuration of its own', () => {
	const subject = useSubject({
		enable_admin_api: true,
		roles: ['edge', 'gateway', 'identity', 'simulator', 'admin'],
		admin: { listen: `127.0.0.1:${adminPort}` },
		metrics: { listen: `127.0.0.1:${metricsPort}`, team_label: true },
		teams: { unregistered_clients: { tier: 'enterprise' }, registered: [{ id: 'red', tier: 'enterprise', client_ids: ['agent'] }] },
	});
	const scrape = async (): Promise<{ text: string; series: readonly Series[] }> => {
		const text = await (await fetch(metricsUrl)).text();
		return { text, series: readExposition(text) };
	};
	/** Waits, because metrics are updated a moment after the client has the last byte of a response. */
	const untilMoved = (what: string, isMoved: (series: readonly Series[]) => boolean) =>
		eventually(what, async () => {
			const { series } = await scrape();
			return isMoved(series) ? series : undefined;
		});
	const admin = async (method: string, path: string, body: object): Promise<number> => {
		const { product, adminClient, scopeBase } = subject.current;
		const accessToken = await product?.accessToken(adminClient, `${scopeBase}/admin`);
		const response = await fetch(`http://127.0.0.1:${adminPort}${path}`, {
			method,
			headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});
		await response.arrayBuffer();
		return response.status;
	};
	/** Opens a stream that continues until it is aborted. */
	const openStream = async (): Promise<AbortController> => {
		const leaving = new AbortController();
		const stalled = chatBody(subject.current, { model: 'gpt-sim-stall-3', stream: true });
		const stream = await fetch(`${subject.current.baseUrl}/v1/chat/completions`, {
			method: 'POST',
			headers: { authorization: `Bearer ${await subject.current.accessToken()}`, 'content-type': 'application/json' },
			body: JSON.stringify(stalled),
			signal: leaving.signal,
		});
		await stream.body?.getReader().read();
		return leaving;
	};
	const read = async (response: Response): Promise<number> => {
		await response.arrayBuffer();
		return response.status;
	};

	it('are the same on both addresses, need no access token, and are well formed', async () => {
		for (const url of [metricsUrl, `http://127.0.0.1:${adminPort}/metrics`]) {
			const response = await fetch(url);
			expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
				200,
				'text/plain; version=0.0.4; charset=utf-8',
				'no-store',
			]);
			const text = await response.text();
			expect(lint(text)).toEqual([]);
			const series = readExposition(text);
			expect(valueOf(series, 'tollgate_build_info')).toBe(1);
			for (const name of ['tollgate_ledger_writable', 'tollgate_key_set_keys', 'process_start_time_seconds', 'tollgate_connections_open']) {
				expect(valueOf(series, name), `${name} is there`).toBeGreaterThanOrEqual(1);
			}
			expect(valueOf(series, 'tollgate_event_loop_delay_seconds', { stat: 'max' })).toBeGreaterThanOrEqual(0);
			// This product has no counter store: no metric is better than a wrong one.
			expect(valueOf(series, 'tollgate_counter_store_up')).toBeUndefined();
		}
		expect((await fetch(`http://127.0.0.1:${metricsPort}/v1/models`)).status).toBe(404);
		expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(405);
	});

	it('count requests, tokens and cost, streaming and non-streaming, by provider and model', async () => {
		const before = (await scrape()).series;
		expect(await read(await send(subject.current, '/v1/chat/completions', { body: chatBody(subject.current) }))).toBe(200);
		expect(await read(await send(subject.current, '/v1/messages', { body: messagesBody(subject.current, { stream: true }) }))).toBe(200);
		const done = { role: 'gateway', outcome: 'complete', status: '200' };
		const after = await untilMoved('both calls', (series) => {
			return ['chat', 'messages'].every((format) => valueOf(series, 'tollgate_requests_total', { ...done, format }) === 1);
		});
		expect(valueOf(after, 'tollgate_requests_total', { ...done, format: 'messages', provider: 'provider_a' })).toBe(1);
		for (const [provider, model] of [
			['provider_b', subject.current.chatModel],
			['provider_a', subject.current.messagesModel],
		] as const) {
			const labels = { provider, model };
			expect(valueOf(after, 'tollgate_tokens_total', { ...labels, kind: 'input' })).toBeGreaterThan(0);
			expect(valueOf(after, 'tollgate_tokens_total', { ...labels, kind: 'output' })).toBeGreaterThan(0);
			expect(valueOf(after, 'tollgate_cost_usd_total', labels)).toBeGreaterThan(0);
			expect(valueOf(after, 'tollgate_upstream_duration_seconds_count', labels)).toBe(1);
			for (const histogram of ['tollgate_request_duration_seconds', 'tollgate_time_to_first_byte_seconds']) {
				expect(valueOf(after, `${histogram}_count`, { provider }), `${histogram} of ${provider}`).toBe(1);
				expect(valueOf(after, `${histogram}_sum`, { provider }), `${histogram} of ${provider}`).toBeGreaterThan(0);
			}
		}
		expect(valueOf(after, 'tollgate_team_requests_total', { team: 'red' })).toBe(2);
		expect(valueOf(after, 'tollgate_team_cost_usd_total', { team: 'red' })).toBeCloseTo(valueOf(after, 'tollgate_cost_usd_total') ?? 0, 9);
		expect(valueOf(before, 'tollgate_team_requests_total') ?? 0).toBe(0);
		expect(valueOf(after, 'tollgate_budget_reservations_open')).toBe(0);
		expect(valueOf(after, 'tollgate_inference_requests_in_flight')).toBe(0);
	});

	it('count rejections and upstream errors by their code, and client disconnects', async () => {
		expect(
			await read(await send(subject.current, '/v1/chat/completions', { body: chatBody(subject.current), accessToken: 'no.such.token' })),
		).toBe(401);
		expect(await read(await send(subject.current, '/v1/chat/completions', { body: '{' }))).toBe(400);
		expect(
			await read(await send(subject.current, '/v1/chat/completions', { body: chatBody(subject.current, { model: 'gpt-sim-html-200' }) })),
		).toBe(502);
		const leaving = await openStream();
		const during = (await scrape()).series;
		expect(valueOf(during, 'tollgate_inference_requests_in_flight', { kind: 'streaming' })).toBe(1);
		leaving.abort();
		const after = await untilMoved(
			'the client left',
			(series) => valueOf(series, 'tollgate_requests_total', { outcome: 'client_closed' }) === 1,
		);
		for (const [kind, code] of [
			['rejected', 'token_invalid'],
			['rejected', 'body_not_json'],
			['rejected', 'client_closed'],
			['upstream', 'provider_response_invalid'],
		] as const) {
			expect(valueOf(after, 'tollgate_errors_total', { kind, code }), `${code} is counted`).toBe(1);
		}
		expect(
			valueOf(
				await untilMoved('it is closed', (series) => valueOf(series, 'tollgate_inference_requests_in_flight') === 0),
				'tollgate_estimated_requests_total',
			),
		).toBeGreaterThan(0);
	});

	it('count a budget’s warning once per crossing, and its rejections', async () => {
		const price = { input_usd_per_million_tokens: '1000000', output_usd_per_million_tokens: '1000000' };
		expect(await admin('PUT', '/pricing/provider_b/gpt-4o-mini', price)).toBe(200);
		expect(await admin('POST', '/budgets', { id: 'red-all', team: 'red', limit_usd: '2.00', warning_threshold_percent: 50 })).toBe(201);
		const stream = await openStream();
		expect(valueOf((await scrape()).series, 'tollgate_budget_reservations_open')).toBe(1);
		stream.abort();
		await untilMoved('the hold is given back', (series) => valueOf(series, 'tollgate_budget_reservations_open') === 0);
		expect(await read(await send(subject.current, '/v1/chat/completions', { body: chatBody(subject.current) }))).toBe(200);
		await untilMoved('the warning', (series) => valueOf(series, 'tollgate_budget_warnings_total', { scope: 'team' }) === 1);
		expect(await read(await send(subject.current, '/v1/chat/completions', { body: chatBody(subject.current) }))).toBe(429);
		const after = await untilMoved('the refusal', (series) => valueOf(series, 'tollgate_errors_total', { code: 'budget_exceeded' }) === 1);
		expect(valueOf(after, 'tollgate_budget_warnings_total')).toBe(1);
		expect(valueOf(after, 'tollgate_cost_usd_total', { model: 'gpt-4o-mini' })).toBeGreaterThan(1);
	});

	it('contain no text of a client, and no secret', async () => {
		const { product } = subject.current;
		const accessToken = (await product?.accessToken()) ?? '';
		const canary = `canary${randomBytes(8).toString('hex')}`;
		const before = (await scrape()).text;
		const [chat, path] = [chatBody(subject.current), '/v1/chat/completions'];
		const headers = { 'x-gateway-session': canary, 'x-request-id': canary, 'user-agent': canary };
		for (const [where, options] of [
			[path, { body: { ...chat, model: canary }, headers }],
			[path, { body: { ...chat, model: `gpt-4o-mini-${canary}` }, headers }],
			[path, { body: { ...chat, model: `provider_a/${canary}` }, headers: { 'x-gateway-provider': canary } }],
			[`/v1/${canary}?${canary}`, { body: chat }],
			[`${path}?key=${canary}`, { body: { ...chat, messages: canary } }],
			[path, { body: chat, accessToken: canary }],
			[path, { body: chat, method: 'PATCH' }],
		] as const) {
			await read(await send(subject.current, where, options));
		}
		const other = await product?.accessToken({ id: 'operator', secret: 'secret-of-the-operator-0123456789' }, 'tollgate/invoke');
		await read(await send(subject.current, '/v1/messages', { body: messagesBody(subject.current), accessToken: other ?? '' }));
		const series = await untilMoved('another team', (now) => valueOf(now, 'tollgate_team_requests_total', { team: 'other' }) === 1);
		const { text } = await scrape();
		expect(text).not.toContain('canary');
		for (const secret of [accessToken, 'simulator-key', 'secret-of-the-agent', '127.0.0.1']) expect(text).not.toContain(secret);
		expect(valueOf(series, 'tollgate_tokens_total', { model: 'other', kind: 'output' })).toBeGreaterThan(0);
		expect(valueOf(series, 'tollgate_unpriced_models')).toBeGreaterThanOrEqual(1);
		expect(text.split('\n').length - before.split('\n').length).toBeLessThan(250);
		expect(lint(text)).toEqual([]);
	});

	it('tell of each reading of the configuration', async () => {
		subject.current.product?.process.kill('SIGHUP');
		const series = await untilMoved('it was read', (now) => valueOf(now, 'tollgate_config_reloads_total', { result: 'ok' }) === 1);
		expect(valueOf(series, 'tollgate_config_reloads_total', { result: 'rejected' })).toBe(0);
		expect(valueOf(series, 'tollgate_config_last_success_timestamp_seconds')).toBeGreaterThan(Date.now() / 1000 - 60);
	});
});
