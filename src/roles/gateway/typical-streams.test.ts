/** Learning from relayed responses, and its effect on later requests. */
import { describe, expect, it } from 'vitest';
import {
	chatBody,
	chatPath,
	GatewayBench,
	HandStream,
	jsonResponse,
	readStream,
	settle,
	sseResponse,
	testSettings,
} from '../../../test/support/gateway-bench.ts';
import { UpstreamError } from '../../core/upstream-error.ts';

let requests = 0;
const fresh = (): { id: string } => ({ id: `req-${++requests}` });

const unlimited = { requestsPerMinute: null, dailyTokens: null, monthlyBudgetUsd: null };

interface Terms {
	readonly dailyTokens?: number;
	readonly monthlyBudgetUsd?: string;
}

function benchWith(terms: Terms, onStreamOver: 'extend' | 'stop' = 'extend'): GatewayBench {
	return new GatewayBench({
		tiers: { sandbox: unlimited, standard: { ...unlimited, ...terms } },
		budgets: { ...testSettings.budgets, onStreamOver },
	});
}

const responseOf = (outputTokens: number): string =>
	`{"id":"x","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":${outputTokens},"total_tokens":${outputTokens + 1}}}`;

/** Completes sequential requests, each with this many output tokens and this duration. */
async function complete(bench: GatewayBench, count: number, outputTokens: number, durationMs = 0): Promise<void> {
	bench.respond = ({ onSent }) => {
		onSent?.();
		bench.clock.advance(durationMs);
		return jsonResponse(200, responseOf(outputTokens));
	};
	for (let index = 0; index < count; index++) expect((await bench.ask(chatPath, chatBody, {}, fresh())).status).toBe(200);
	await bench.gateway.settled();
}

/** Starts a request to which its provider does not respond. @returns a function that disconnects its client */
async function begin(bench: GatewayBench): Promise<() => Promise<void>> {
	let disconnect: (() => void) | undefined;
	bench.respond = ({ onSent }) => {
		onSent?.();
		return new Promise(() => undefined);
	};
	const pending = bench.ask(chatPath, chatBody, {}, { ...fresh(), onClientDisconnect: (listener) => (disconnect = listener) });
	await settle();
	return async () => {
		disconnect?.();
		await pending;
		await bench.gateway.settled();
	};
}

async function reservedTokens(bench: GatewayBench): Promise<number> {
	return (await bench.admission.read('team-1', [])).reservedTokens;
}

describe('the reservation of a request’s daily tokens', () => {
	it('follows the output of complete responses', async () => {
		const bench = benchWith({ dailyTokens: 10_000_000 });
		const end = await begin(bench);
		const first = await reservedTokens(bench);
		await end();
		await complete(bench, 60, 2000);
		await begin(bench);
		const later = await reservedTokens(bench);
		expect(first).toBeGreaterThan(200);
		expect(first).toBeLessThan(400);
		expect(later).toBeGreaterThan(1900);
		expect(later).toBeLessThan(2100);
	});

	it('ignores requests whose clients disconnected', async () => {
		const bench = benchWith({ dailyTokens: 10_000_000 });
		const first = await begin(bench);
		const before = await reservedTokens(bench);
		await first();
		for (let index = 0; index < 30; index++) await (await begin(bench))();
		await begin(bench);
		expect(await reservedTokens(bench)).toBe(before);
	});
});

it('that causes a rejection gives the time until a usual request has ended', async () => {
	const retryAfter = async (durationMs: number): Promise<unknown> => {
		// 60 requests of two tokens each leave room for one more, whatever it reserves.
		const bench = benchWith({ dailyTokens: 121 });
		await complete(bench, 60, 1, durationMs);
		await begin(bench);
		const rejected = await bench.ask(chatPath, chatBody, {}, fresh());
		expect(rejected.status).toBe(429);
		return rejected.headers['retry-after'];
	};
	expect([await retryAfter(19_500), await retryAfter(1500)]).toEqual(['20', '2']);
});

describe('the tokens of a stream that is cut', () => {
	const text = 'word '.repeat(40);
	const chunk = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }], usage: null })}\n\n`;

	/** Completes sequential streams. @param end sends the rest after their text. @returns the output tokens of the last ledger entry */
	async function stream(bench: GatewayBench, count: number, end: (upstream: HandStream) => void): Promise<number> {
		for (let index = 0; index < count; index++) {
			const upstream = new HandStream();
			bench.respond = ({ onSent }) => {
				onSent?.();
				return sseResponse(upstream);
			};
			readStream(await bench.ask(chatPath, chatBody.replace('{', '{"stream":true,').replace('gpt-5', 'gpt-4o'), {}, fresh()));
			upstream.write(chunk);
			await settle();
			end(upstream);
			await bench.gateway.settled();
		}
		return (await bench.ledger.list({ limit: 1 })).rows[0]?.closed?.usage.outputTokens ?? 0;
	}

	const cut = (upstream: HandStream): void => upstream.sink?.fail(new UpstreamError('provider_disconnected'));
	const report =
		(outputTokens: number) =>
		(upstream: HandStream): void => {
			upstream.write(
				`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":${outputTokens},"total_tokens":${outputTokens + 1}}}\n\n`,
			);
			upstream.write('data: [DONE]\n\n');
			upstream.sink?.end();
		};

	it('are estimated by the providers’ counts of complete streams', async () => {
		const bench = benchWith({ monthlyBudgetUsd: '1000' }, 'stop');
		const before = await stream(bench, 1, cut);
		await stream(bench, 40, report(2 * before));
		const after = await stream(bench, 1, cut);
		expect(after / before).toBeGreaterThan(1.7);
		expect(after / before).toBeLessThan(2.1);
	});
});
