/** JSONTestSuite's parsing cases as request bodies, with credentials, against a complete product. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { allEndpoints, allFormats } from './formats.ts';
import { isOwnProduct, itOwn, requestsServed, send, useSubject } from './subject.ts';

interface SuiteCase {
	readonly file: string;
	readonly expect: 'y' | 'n' | 'i';
	readonly body?: string;
	readonly gen?: readonly (readonly [text: string, count: number])[];
}

const cases = readFileSync(new URL('../suites/json/cases.jsonl', import.meta.url), 'utf8')
	.split('\n')
	.filter(Boolean)
	.map((line) => {
		const one = JSON.parse(line) as SuiteCase;
		const bytes =
			one.body === undefined
				? Buffer.from((one.gen ?? []).map(([text, count]) => text.repeat(count)).join(''))
				: Buffer.from(one.body, 'base64');
		return { ...one, bytes };
	});

const atOnce = 16;

/** Processes the items in order, one batch at a time. */
async function inBatches<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
	for (let start = 0; start < items.length; start += atOnce) await Promise.all(items.slice(start, start + atOnce).map(act));
}

describe('JSONTestSuite: a malformed body is 400', () => {
	const subject = useSubject();

	describe.each(isOwnProduct ? allEndpoints : allFormats)('%s', (_path, endpoint) => {
		it.each([
			['n', 188],
			['y', 95],
			['i', 35],
		])('the %s cases: %i', async (kind, count) => {
			const chosen = cases.filter((one) => one.expect === kind);
			expect(chosen).toHaveLength(count);
			const before = await requestsServed(subject.current);
			const wrong: unknown[] = [];
			await inBatches(chosen, async ({ file, bytes }) => {
				const startedMs = performance.now();
				const response = await send(subject.current, endpoint.path, { body: bytes });
				const httpResponse = (await response.json()) as { error?: { code?: string } };
				const tookMs = performance.now() - startedMs;
				// Rejected in every case, because none has a model and messages.
				const isRejected = response.status === 400 && httpResponse.error?.code !== 'internal_error';
				if (!isRejected || tookMs > 1000) wrong.push([file, response.status, httpResponse, tookMs]);
			});
			expect(wrong).toEqual([]);
			expect(await requestsServed(subject.current), 'the provider was called').toBe(before);
			const { chatModel, messagesModel } = subject.current;
			const models = { chat: chatModel, responses: chatModel, messages: messagesModel };
			const model = endpoint.name in models ? models[endpoint.name as keyof typeof models] : endpoint.family;
			const good = await send(subject.current, endpoint.path, { body: endpoint.question(model) });
			expect(good.status).toBe(200);
		});

		itOwn('the text of each y case arrives byte for byte as a message', 'our simulator', async () => {
			const texts = cases.filter((one) => one.expect === 'y').map(({ bytes }) => bytes.toString());
			const hashes = new Map<string, string>();
			await inBatches(texts, async (text) => {
				const model = `${endpoint.family}-sim-text-${endpoint.name}-${hashes.size}`;
				const body = JSON.stringify(endpoint.question(model, {}, `Read this: ${text}`));
				hashes.set(model, createHash('sha256').update(body).digest('hex'));
				expect((await send(subject.current, endpoint.path, { body })).status).toBe(200);
			});
			const seen = await subject.current.simulator.requests('?limit=1000');
			const received = new Map(seen.map(({ model, body_sha256: hash }) => [model, hash]));
			expect(hashes.size).toBe(95);
			for (const [model, hash] of hashes) expect([model, received.get(model)]).toEqual([model, hash]);
		});
	});
});
