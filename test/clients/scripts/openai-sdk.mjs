import OpenAI from 'openai';
import { dialect, expectSent, expectText, feature, gatewayUrl, model, reasoningField, source, weather, weatherSchema } from './report.mjs';

const client = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey: source.accessToken, fetch: source.fetch, maxRetries: 0 });

if (dialect === 'chat') {
	const create = (messages, extra) => client.chat.completions.create({ model, messages, ...extra });
	await feature('text', async () => {
		const { choices, usage } = await create([{ role: 'user', content: 'Say hello.' }]);
		expectText(choices[0].message.content, 'Say hello');
		if (!(usage.total_tokens > 0)) throw new Error('no usage');
	});
	await feature('stream', async () => {
		let text = '';
		for await (const { choices } of await create([{ role: 'user', content: 'Say hello.' }], { stream: true })) {
			text += choices[0]?.delta.content ?? '';
		}
		expectText(text, 'Say hello');
	});
	await feature('tools', async () => {
		const runner = client.chat.completions.runTools({
			model,
			messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
			stream: true,
			tools: [
				{
					type: 'function',
					function: { ...weather, function: ({ city }) => weather.run(city), parse: JSON.parse, parameters: weatherSchema },
				},
			],
		});
		expectText(await runner.finalContent(), '21 degrees in Paris');
	});
	await feature('multi-turn', async () => {
		const messages = [];
		for (const content of ['My name is Ada.', 'What is my name?', 'Say it again.']) {
			messages.push({ role: 'user', content });
			messages.push((await create(messages)).choices[0].message);
		}
		await expectSent('My name is Ada.');
	});
} else {
	const input = (content) => [{ role: 'user', content }];
	const tools = [{ type: 'function', name: weather.name, description: weather.description, parameters: weatherSchema, strict: false }];
	await feature('text', async () => {
		const response = await client.responses.create({ model, input: 'Say hello.', store: false });
		expectText(response.output_text, 'Say hello');
	});
	await feature('stream', async () => {
		const stream = client.responses.stream({ model, input: 'Say hello.', store: false });
		let text = '';
		stream.on('response.output_text.delta', ({ delta }) => (text += delta));
		expectText((await stream.finalResponse()).output_text, 'Say hello');
		expectText(text, 'Say hello');
	});
	const runTools = async (extra) => {
		const items = input('What is the weather in Paris?');
		for (let turn = 0; turn < 4; turn += 1) {
			const response = await client.responses.stream({ model, input: items, tools, store: false, ...extra }).finalResponse();
			items.push(...response.output);
			const calls = response.output.filter(({ type }) => type === 'function_call');
			if (calls.length === 0) return response.output_text;
			for (const { call_id, arguments: text } of calls) {
				items.push({ type: 'function_call_output', call_id, output: weather.run(JSON.parse(text).city) });
			}
		}
		throw new Error('no final response');
	};
	await feature('tools', async () => expectText(await runTools(), '21 degrees in Paris'));
	await feature('reasoning kept', async () => {
		expectText(await runTools({ reasoning: { effort: 'medium' }, include: ['reasoning.encrypted_content'] }), '21 degrees in Paris');
		await expectSent(reasoningField);
	});
	await feature('multi-turn', async () => {
		const items = [];
		for (const content of ['My name is Ada.', 'What is my name?', 'Say it again.']) {
			items.push(...input(content));
			items.push(...(await client.responses.create({ model, input: items, store: false })).output);
		}
		await expectSent('My name is Ada.');
	});
}

await feature('embeddings', async () => {
	const { data } = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['one', 'two'] });
	if (data.length !== 2 || !(data[1].embedding.length > 1)) throw new Error('not two embeddings');
});
