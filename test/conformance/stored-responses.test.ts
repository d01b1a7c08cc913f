/** Stored responses through the official SDKs, with `responses.state: owner`. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { openAiLines } from '../support/sdk-lines.ts';
import { openOpenAi } from './open-sdk.ts';
import { describeOwn, useSubject } from './subject.ts';

const model = 'gpt-5-mini-sim-text';

describeOwn('stored responses', 'our simulator', () => {
	const subject = useSubject({ responses: { state: 'owner' } });
	// Hides warnings: by date, the SDKs warn of old models.
	beforeAll(() => {
		const silenced = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
		return () => silenced.mockRestore();
	});

	describe.each(openAiLines)('%s', (_line, OpenAI) => {
		it('continues a stored conversation by the id of a response, and by references to its items', async () => {
			const client = await openOpenAi(OpenAI, subject.current);
			const first = await client.responses.create({ model, input: 'Say hello.' });
			const second = await client.responses.create({ model, input: 'And?', previous_response_id: first.id });
			expect(first).toHaveProperty('store', true);
			expect(second.previous_response_id).toBe(first.id);
			const references = first.output.map(({ id }) => ({ type: 'item_reference' as const, id: id ?? '' }));
			const third = await client.responses.create({ model, input: [...references, { role: 'user', content: 'And?' }] });
			expect(third.status).toBe('completed');
		});

		it('continues a streamed response', async () => {
			const client = await openOpenAi(OpenAI, subject.current);
			const { id } = await client.responses.stream({ model, input: 'Say hello.' }).finalResponse();
			const next = await client.responses.stream({ model, input: 'And?', previous_response_id: id }).finalResponse();
			expect(next.previous_response_id).toBe(id);
		});

		it('reads, lists and deletes a response', async () => {
			const client = await openOpenAi(OpenAI, subject.current);
			const created = await client.responses.create({ model, input: 'Say hello.' });
			const read = await client.responses.retrieve(created.id);
			expect([read.id, read.output_text]).toEqual([created.id, created.output_text]);
			const { data } = await client.responses.inputItems.list(created.id);
			expect(data).toMatchObject([{ type: 'message', role: 'user' }]);
			await client.responses.delete(created.id);
			for (const attempt of [
				client.responses.retrieve(created.id),
				client.responses.create({ model, input: 'x', previous_response_id: created.id }),
			]) {
				const failure = await attempt.catch((cause: unknown) => cause);
				expect(failure).toBeInstanceOf(OpenAI.NotFoundError);
				expect(failure).toHaveProperty('code', 'response_not_found');
			}
		});

		it('keeps a response of another client closed', async () => {
			const { product } = subject.current;
			if (product === undefined) throw new Error('the test needs a product of its own');
			const client = await openOpenAi(OpenAI, subject.current);
			const { id } = await client.responses.create({ model, input: 'Say hello.' });
			const other = client.withOptions({ apiKey: await product.accessToken(subject.current.adminClient) });
			for (const attempt of [
				() => other.responses.retrieve(id),
				() => other.responses.delete(id),
				() => other.responses.cancel(id),
				() => other.responses.inputItems.list(id),
				() => other.responses.create({ model, input: 'And?', previous_response_id: id }),
			]) {
				expect(await attempt().catch((cause: unknown) => cause)).toBeInstanceOf(OpenAI.NotFoundError);
			}
			expect((await client.responses.retrieve(id)).id).toBe(id);
		});

		it('compacts a conversation', async () => {
			const client = await openOpenAi(OpenAI, subject.current);
			const compacted = await client.responses.compact({ model, input: 'Say hello.' });
			expect(compacted.object).toBe('response.compaction');
		});
	});
});
