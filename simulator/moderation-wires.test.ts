import OpenAI from 'openai';
import { afterAll, describe, expect, it } from 'vitest';
import { startSimulator } from '../test/support/start-simulator.ts';

const simulator = await startSimulator();
afterAll(() => simulator.close());

describe('moderation services', () => {
	it('respond to moderations as the official SDK expects', async () => {
		const openai = new OpenAI({ apiKey: 'sk-moderation', baseURL: `${simulator.origin}/openai/v1`, maxRetries: 0 });
		const { results } = await openai.moderations.create({ input: ['hello', 'simulate-hate'] });
		expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
		expect(results[1]?.category_scores.hate).toBeGreaterThan(0.9);
	});

	it.each([
		'/openai/v1/moderations',
		'/bedrock/guardrail/a/version/1/apply',
		'/azure/contentsafety/text:analyze',
		'/judge/v1/chat/completions',
	])('%s rejects a missing key and a body of another API', async (path) => {
		const ask = (headers: Record<string, string>, body: string): Promise<Response> =>
			fetch(simulator.origin + path, { method: 'POST', headers, body });
		const key = { authorization: 'Bearer k', 'ocp-apim-subscription-key': 'k' };
		expect((await ask({}, '{}')).status).toBe(401);
		for (const body of ['{}', '[]', 'x']) expect((await ask(key, body)).status).toBe(400);
	});

	it('log an entry without the key', async () => {
		const [row] = await simulator.requests('?dialect=content-safety&limit=1');
		expect(row).toMatchObject({ outcome: 'rejected', status: 400 });
	});
});
