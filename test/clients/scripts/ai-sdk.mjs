import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { embedMany, generateText, isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';
import { dialect, expectSent, expectText, feature, gatewayUrl, model as modelName, reasoningField, source, weather } from './report.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;
const options = { baseURL: `${gatewayUrl}/v1`, apiKey: 'set by fetch', fetch: source.fetch };
const openai = createOpenAI(options);
const open = { chat: (name) => openai.chat(name), messages: (name) => createAnthropic(options)(name), responses: (name) => openai(name) };
const model = open[dialect](modelName);
// The gateway stores no responses, so that the SDK must send items, not references to them.
const providerOptions = { openai: { store: false } };
const tools = { get_weather: tool({ ...weather, inputSchema: z.object({ city: z.string() }), execute: ({ city }) => weather.run(city) }) };
const ask = { model, maxRetries: 0, providerOptions };

await feature('text', async () => expectText((await generateText({ ...ask, prompt: 'Say hello.' })).text, 'Say hello'));
await feature('stream', async () => {
	const result = streamText({ ...ask, prompt: 'Say hello.', onError: () => undefined });
	let text = '';
	for await (const delta of result.textStream) text += delta;
	await result.finishReason;
	expectText(text, 'Say hello');
});
const runTools = async (extra) => {
	const prompt = 'What is the weather in Paris?';
	const result = streamText({ ...ask, ...extra, tools, prompt, stopWhen: isStepCount(4), onError: () => undefined });
	await result.consumeStream();
	return result.text;
};
await feature('tools', async () => expectText(await runTools(), '21 degrees in Paris'));
await feature('reasoning kept', async () => {
	const reasoning = {
		providerOptions: {
			openai: { store: false, reasoningEffort: 'medium', forceReasoning: true },
			anthropic: { thinking: { type: 'adaptive' } },
		},
	};
	expectText(await runTools(reasoning), '21 degrees in Paris');
	await expectSent(reasoningField);
});
await feature('multi-turn', async () => {
	const messages = [];
	for (const content of ['My name is Ada.', 'What is my name?', 'Say it again.']) {
		messages.push({ role: 'user', content });
		const result = await generateText({ ...ask, messages });
		messages.push(...(result.responseMessages ?? result.response.messages));
	}
	await expectSent('My name is Ada.');
});
await feature('references rejected', async () => {
	// By its defaults the SDK refers to items that it believes stored. The gateway names the setting that sends them instead.
	const settings = { model, maxRetries: 0 };
	const first = await generateText({ ...settings, prompt: 'Say hello.' });
	const messages = [
		{ role: 'user', content: 'Say hello.' },
		...(first.responseMessages ?? first.response.messages),
		{ role: 'user', content: 'Say it again.' },
	];
	const message = await generateText({ ...settings, messages }).then(() => 'the second turn was accepted', String);
	expectText(message, 'store');
});
await feature('embeddings', async () => {
	const { embeddings } = await embedMany({ model: openai.embedding('text-embedding-3-small'), values: ['one', 'two'], maxRetries: 0 });
	if (embeddings.length !== 2) throw new Error('not two embeddings');
});
