/** Requests as client programs send them: base URLs of several spellings, compressed bodies, `OPTIONS` before a request. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { allEndpoints } from './formats.ts';
import { describeOwn, send, useSubject } from './subject.ts';

const gzip = { 'content-encoding': 'gzip' };

describe('what clients expect of a server', () => {
	const subject = useSubject();

	describe.each(allEndpoints)('%s', (path, { family, question }) => {
		it.each(['/', '//'])('with `%s` at the end is the same address', async (end) => {
			expect((await send(subject.current, path + end, { body: question(`${family}-sim-ok`) })).status).toBe(200);
		});

		it.each(['/v1', '/v1/v1', '/'])('with `%s` before it is the same address', async (beginning) => {
			expect((await send(subject.current, beginning + path, { body: question(`${family}-sim-ok`) })).status).toBe(200);
		});

		it('responds to OPTIONS without a token', async () => {
			const response = await send(subject.current, path, { method: 'OPTIONS', headers: { authorization: null } });
			expect([response.status, response.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
		});
	});
});

describeOwn('a body in gzip', 'a configuration of its own', () => {
	const subject = useSubject({ enable_guardrails: true, enforce_guardrails: true, guardrails: { words: ['darkfish'] } });

	it.each(allEndpoints)('%s: is sent to the provider inflated, and judged by guardrails as such', async (path, { family, question }) => {
		const responses = [];
		for (const content of ['Hello.', 'Where is the darkfish?']) {
			const requested = question(`${family}-sim-ok`, {}, content);
			const response = await send(subject.current, path, { headers: gzip, body: gzipSync(JSON.stringify(requested)) });
			const { error } = (await response.json()) as { error?: { code: string } };
			responses.push([response.status, error?.code]);
		}
		expect(responses).toEqual([
			[200, undefined],
			[400, 'guardrail_blocked'],
		]);
	});
});
