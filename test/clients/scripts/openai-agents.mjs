import { Agent, MemorySession, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import { dialect, expectSent, expectText, feature, gatewayUrl, model, reasoningField, source, weather } from './report.mjs';

// Traces go to OpenAI's own endpoint, not to the gateway.
setTracingDisabled(true);
const openAIClient = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey: source.accessToken, fetch: source.fetch, maxRetries: 0 });
const modelProvider = new OpenAIProvider({ openAIClient, useResponses: dialect === 'responses' });
const runner = new Runner({ modelProvider });
const store = { store: false };
const getWeather = tool({
	name: weather.name,
	description: weather.description,
	parameters: z.object({ city: z.string() }),
	execute: ({ city }) => weather.run(city),
});
const open = (tools = [], modelSettings = {}) => new Agent({ name: 'agent', model, tools, modelSettings: { ...store, ...modelSettings } });

await feature('text', async () => expectText((await runner.run(open(), 'Say hello.')).finalOutput, 'Say hello'));
await feature('stream', async () => {
	const result = await runner.run(open(), 'Say hello.', { stream: true });
	let text = '';
	for await (const delta of result.toTextStream()) text += delta;
	await result.completed;
	expectText(text, 'Say hello');
});
const ask = 'What is the weather in Paris?';
await feature('tools', async () => expectText((await runner.run(open([getWeather]), ask)).finalOutput, '21 degrees in Paris'));
await feature('reasoning kept', async () => {
	const settings = { reasoning: { effort: 'medium' }, providerData: { include: ['reasoning.encrypted_content'] } };
	expectText((await runner.run(open([getWeather], settings), ask)).finalOutput, '21 degrees in Paris');
	await expectSent(reasoningField);
});
await feature('multi-turn', async () => {
	const session = new MemorySession();
	for (const content of ['My name is Ada.', 'What is my name?', 'Say it again.']) await runner.run(open(), content, { session });
	await expectSent('My name is Ada.');
});
process.exit(0);
