/** Work on a large conversation yields to the event loop, so that other requests are served meanwhile. */
import { expect, it } from 'vitest';
import { chatPath, GatewayBench, jsonResponse, messagesPath, testSettings } from '../../../test/support/gateway-bench.ts';

/** Counts turns of the event loop from the request's arrival to the upstream request. */
async function turnsOf(path: string, model: string, characters: number, more = ''): Promise<number> {
	const bench = new GatewayBench();
	let turns = 0;
	let isSent = false;
	const count = (): void => {
		if (isSent) return;
		turns++;
		setImmediate(count);
	};
	bench.respond = () => {
		isSent = true;
		return jsonResponse(500, '{}');
	};
	const body = `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"${'a'.repeat(characters)}"}]${more}}`;
	setImmediate(count);
	await bench.ask(path, body);
	expect(isSent).toBe(true);
	return turns;
}

const longNumber = ',"metadata":{"n":12345678901234567890}';

it.each([
	// Scanned, parsed; sent as it came.
	[chatPath, 'gpt-4o', '', 2],
	[messagesPath, 'claude-opus-4-8', longNumber, 2],
	// Repaired; scanned and parsed once more.
	[chatPath, 'gpt-5', '', 4],
	// Then translated, written; admitted.
	[chatPath, 'claude-opus-4-8', '', 4],
	[chatPath, 'gemini-3-pro', '', 4],
	[messagesPath, 'gpt-5', '', 4],
	[messagesPath, 'gemini-3-pro', '', 4],
	// Read once more, for the digits.
	[messagesPath, 'gpt-5', longNumber, 5],
	[messagesPath, 'gemini-3-pro', longNumber, 5],
])('%s to %s%s: this many more turns for a large body than for a small one', async (path, model, more, turns) => {
	expect((await turnsOf(path, model, 300_000, more)) - (await turnsOf(path, model, 300, more))).toBe(turns);
});

it('a large body whose model is renamed is sent in parts of the original, not as a copy', async () => {
	const bench = new GatewayBench({ routing: { ...testSettings.routing, aliases: { fast: 'provider_b/gpt-4o' } } });
	bench.respond = () => jsonResponse(500, '{}');
	for (const characters of [1000, 400_000]) {
		const body = `{"model":"fast","messages":[{"role":"user","content":"${'a'.repeat(characters)}"}]}`;
		await bench.ask(chatPath, body);
		const sent = bench.sent.at(-1)?.body;
		const isInParts = Array.isArray(sent);
		expect([characters, isInParts]).toEqual([characters, characters > 262_144]);
		const deps = (isInParts ? sent : [sent]) as readonly Buffer[];
		expect(Buffer.concat(deps).toString()).toBe(body.replace('"fast"', '"gpt-4o"'));
		if (isInParts) expect(new Set([deps[0]?.buffer, deps.at(-1)?.buffer]).size).toBe(1);
	}
});
