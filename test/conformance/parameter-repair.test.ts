/** Parameters that a model rejects, on the path of one format: repaired by default, and otherwise the provider's own error. */
import { beforeAll, expect, it } from 'vitest';
import { describeOwn, type Subject, send, useSubject } from './subject.ts';

const turns = '"messages":[{"role":"user","content":"hi"}]';

async function ask(
	subject: Subject,
	path: string,
	body: string,
): Promise<{ status: number; warnings: string | null; sent: string | undefined }> {
	const response = await send(subject, path, { body });
	await response.text();
	const { body: sent } = await subject.simulator.newestRequest();
	return { status: response.status, warnings: response.headers.get('x-gateway-warnings'), sent };
}

describeOwn('parameter repair', 'our simulator', () => {
	const subject = useSubject();
	beforeAll(() => subject.current.simulator.change({ record_bodies: true }));

	it.each([
		[
			'/v1/chat/completions',
			`{ "model":"gpt-5","max_tokens" : 50, ${turns} ,"temperature":0.20,"top_p":0.5, "seed": 1e0}`,
			`{ "model":"gpt-5","max_completion_tokens" : 50, ${turns} ,"seed": 1e0}`,
			/^max_tokens: .*max_completion_tokens.*; temperature: dropped.*; top_p: dropped/,
		],
		[
			'/v1/messages',
			`{"model":"claude-opus-4-8",${turns},"max_tokens":9, "temperature":0.3,"top_k":4}`,
			`{"model":"claude-opus-4-8",${turns},"max_tokens":9}`,
			/^temperature: dropped.*; top_k: dropped/,
		],
	])('%s: repairs and names each field, and changes no other byte', async (path, body, expected, warnings) => {
		const repaired = await ask(subject.current, path, body);
		expect([repaired.status, repaired.sent]).toEqual([200, expected]);
		expect(repaired.warnings).toMatch(warnings);
	});

	it.each([
		['/v1/chat/completions', `{"model":"gpt-4o","max_tokens":50,${turns},"temperature":0.2,"top_p":0.5}`],
		['/v1/chat/completions', `{"model":"gpt-5","max_completion_tokens":50,${turns}}`],
		['/v1/messages', `{"model":"claude-haiku-4-5","max_tokens":50,${turns},"temperature":0.2}`],
		['/v1/messages', `{"model":"claude-opus-4-8","max_tokens":50,${turns},"temperature":1,"top_p":1}`],
	])('%s: changes and reports nothing that the model accepts: %s', async (path, body) => {
		expect(await ask(subject.current, path, body)).toEqual({ status: 200, warnings: null, sent: body });
	});
});

describeOwn('parameter repair, off', 'a configuration of its own', () => {
	const subject = useSubject({ repair_parameters: 'off' });
	beforeAll(() => subject.current.simulator.change({ record_bodies: true }));

	it.each([
		['/v1/chat/completions', `{"model":"gpt-5","max_tokens":50,${turns},"temperature":0.2}`],
		['/v1/messages', `{"model":"claude-opus-4-8",${turns},"max_tokens":9,"temperature":0.3}`],
	])('%s: the provider’s error names the field', async (path, body) => {
		expect(await ask(subject.current, path, body)).toEqual({ status: 400, warnings: null, sent: body });
	});
});
