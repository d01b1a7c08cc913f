import Anthropic from '@anthropic-ai/sdk';
import { expectSent, expectText, feature, gatewayUrl, model, reasoningField, source, weather, weatherSchema } from './report.mjs';

const client = new Anthropic({ baseURL: gatewayUrl, apiKey: source.accessToken, fetch: source.fetch, maxRetries: 0 });
const textOf = ({ content }) => content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
const ask = { model, max_tokens: 2000 };

await feature('text', async () => {
	const message = await client.messages.create({ ...ask, messages: [{ role: 'user', content: 'Say hello.' }] });
	expectText(textOf(message), 'Say hello');
});
await feature('stream', async () => {
	let text = '';
	const stream = client.messages.stream({ ...ask, messages: [{ role: 'user', content: 'Say hello.' }] }).on('text', (delta) => (text += delta));
	expectText(textOf(await stream.finalMessage()), text);
	expectText(text, 'Say hello');
});
const runTools = async (extra) => {
	const messages = [{ role: 'user', content: 'What is the weather in Paris?' }];
	const tools = [{ name: weather.name, description: weather.description, input_schema: weatherSchema }];
	for (let turn = 0; turn < 4; turn += 1) {
		const message = await client.messages.stream({ ...ask, messages, tools, ...extra }).finalMessage();
		const calls = message.content.filter(({ type }) => type === 'tool_use');
		if (calls.length === 0) return textOf(message);
		messages.push({ role: 'assistant', content: message.content });
		messages.push({
			role: 'user',
			content: calls.map(({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: weather.run(input.city) })),
		});
	}
	throw new Error('no final response');
};
await feature('tools', async () => expectText(await runTools(), '21 degrees in Paris'));
await feature('reasoning kept', async () => {
	expectText(await runTools({ thinking: { type: 'adaptive' } }), '21 degrees in Paris');
	await expectSent(reasoningField);
});
await feature('multi-turn', async () => {
	const messages = [];
	for (const content of ['My name is Ada.', 'What is my name?', 'Say it again.']) {
		messages.push({ role: 'user', content });
		messages.push({ role: 'assistant', content: (await client.messages.create({ ...ask, messages })).content });
	}
	await expectSent('My name is Ada.');
});
