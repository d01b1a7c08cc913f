/** Firewall's limit per source address (Spec: Limits, Firewall layer), with source addresses of loopback. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { expect, it } from 'vitest';
import { messagesFormat } from './formats.ts';
import { describeOwn, useSubject } from './subject.ts';

interface TestResponse {
	readonly status: number;
	readonly headers: IncomingHttpHeaders;
	readonly body: string;
}

interface ModerationContext {
	readonly method?: string;
	readonly path?: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: string;
}

/** Requests from one source address over a few connections. */
class Source {
	readonly #agent: Agent;
	readonly #baseUrl: string;

	constructor(baseUrl: string, address: string) {
		this.#baseUrl = baseUrl;
		this.#agent = new Agent({ keepAlive: true, maxSockets: 32, localAddress: address });
	}

	ask({ method = 'GET', path = '/', headers = {}, body }: ModerationContext = {}): Promise<TestResponse> {
		return new Promise((resolve, reject) => {
			const sent = request(`${this.#baseUrl}${path}`, { method, headers, agent: this.#agent });
			sent.once('error', reject);
			sent.once('response', (response) => {
				let text = '';
				response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
				response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
			});
			sent.end(body);
		});
	}

	/** Returns the statuses of concurrent requests, sorted. */
	async requestTimes(times: number, requested: ModerationContext = {}): Promise<number[]> {
		const responses = await Promise.all(Array.from({ length: times }, () => this.ask(requested)));
		return responses.map(({ status }) => status).toSorted((a, b) => a - b);
	}

	close(): void {
		this.#agent.destroy();
	}
}

function expectBlockPage({ status, headers, body }: TestResponse): void {
	expect([status, headers['x-amzn-waf-action'], headers['content-type']]).toEqual([403, 'BLOCK', 'text/html; charset=utf-8']);
	expect(body).toMatch(/^<!doctype html>[^]*403 Forbidden[^]*Request blocked/);
	expect(headers['x-request-id']).toMatch(/^req_/);
	expect(headers['www-authenticate']).toBeUndefined();
}

describeOwn('Spec: Limits, 2,000 requests in five minutes per address, the default', 'a configuration of its own', () => {
	const subject = useSubject({ edge: { firewall: { per_ip: undefined } } });

	it('exactly 2,000 pass, the next are blocked, and another address is not affected', async () => {
		const [busy, other] = ['127.1.2.3', '127.1.2.4'].map((address) => new Source(subject.current.baseUrl, address));
		if (busy === undefined || other === undefined) throw new Error('no sources');
		const statuses = await busy.requestTimes(2010);
		expect(statuses.filter((status) => status === 200)).toHaveLength(2000);
		expect(statuses.slice(2000)).toEqual(Array.from({ length: 10 }, () => 403));
		expectBlockPage(await busy.ask());
		expect((await other.ask()).status).toBe(200);
		busy.close();
		other.close();
	});
});

describeOwn('Spec: Errors, 403 of the firewall', 'a configuration of its own', () => {
	const limit = 30;
	const subject = useSubject({ edge: { firewall: { per_ip: { requests: limit } }, trusted_proxies: ['127.9.9.9'] } });
	const open = (address: string): Source => new Source(subject.current.baseUrl, address);

	const call = async (): Promise<ModerationContext> => ({
		method: 'POST',
		path: '/v1/messages',
		headers: { 'content-type': 'application/json', authorization: `Bearer ${await subject.current.accessToken()}` },
		body: JSON.stringify(messagesFormat.question('claude-sim-text')),
	});

	it('requests with a valid token are counted, and a blocked one does not reach the provider', async () => {
		const source = open('127.2.0.1');
		const requested = await call();
		expect(new Set(await source.requestTimes(limit, requested))).toEqual(new Set([200]));
		const before = await subject.current.simulator.requestsServed();
		expectBlockPage(await source.ask(requested));
		expect(await subject.current.simulator.requestsServed()).toBe(before);
		const other = open('127.2.0.2');
		expect((await other.ask(requested)).status).toBe(200);
		source.close();
		other.close();
	});

	it('the limit comes before the token: guesses are counted, and blocked as 403', async () => {
		const source = open('127.2.0.3');
		const guess = { ...(await call()), headers: { authorization: 'Bearer guessed' } };
		expect(new Set(await source.requestTimes(limit, guess))).toEqual(new Set([401]));
		expectBlockPage(await source.ask(guess));
		expectBlockPage(await source.ask({ path: '/no-such-address' }));
		source.close();
	});

	it('what a client says of its address does not help it', async () => {
		const source = open('127.2.0.4');
		await source.requestTimes(limit);
		for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'true-client-ip', 'cf-connecting-ip', 'x-client-ip']) {
			expectBlockPage(await source.ask({ headers: { [name]: name === 'forwarded' ? 'for=198.51.100.1' : '198.51.100.1' } }));
		}
		source.close();
	});

	it('behind a trusted proxy the client’s address counts, from the right', async () => {
		const proxy = open('127.9.9.9');
		const from = (chain: string): ModerationContext => ({ headers: { 'x-forwarded-for': chain } });
		await proxy.requestTimes(limit, from('198.51.100.7'));
		expectBlockPage(await proxy.ask(from('198.51.100.7')));
		expectBlockPage(await proxy.ask(from('203.0.113.1, 198.51.100.7')));
		expect((await proxy.ask(from('198.51.100.8'))).status).toBe(200);
		proxy.close();
	});

	it('health probes under their own names are not counted', async () => {
		const source = open('127.2.0.5');
		expect(new Set(await source.requestTimes(limit * 2, { path: '/healthz' }))).toEqual(new Set([200]));
		expect((await source.ask()).status).toBe(200);
		source.close();
	});
});
