import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { dialect, expectSent, expectText, feature, gatewayUrl, model as modelName, reasoningField, source, weather } from './report.mjs';

const openaiOptions = { apiKey: 'set by fetch', configuration: { baseURL: `${gatewayUrl}/v1`, fetch: source.fetch }, maxRetries: 0 };
const open = (extra = {}) => {
	if (dialect === 'messages') {
		return new ChatAnthropic({ model: modelName, apiKey: 'set by fetch', anthropicApiUrl: gatewayUrl, clientOptions: { fetch: source.fetch }, maxTokens: 2000, maxRetries: 0, ...extra.anthropic });
	}
	const isResponses = dialect === 'responses';
	return new ChatOpenAI({ model: modelName, ...openaiOptions, useResponsesApi: isResponses, ...(isResponses && { zdrEnabled: true }), ...extra.openai });
};
const model = open();
const getWeather = tool(({ city }) => weather.run(city), {
	name: weather.name,
	description: weather.description,
	schema: z.object({ city: z.string() }),
});

await feature('text', async () => expectText((await model.invoke('Say hello.')).text, 'Say hello'));
await feature('stream', async () => {
	let text = '';
	for await (const chunk of await model.stream('Say hello.')) text += chunk.text;
	expectText(text, 'Say hello');
});
const runTools = async (agentModel) => {
	const agent = createAgent({ model: agentModel, tools: [getWeather] });
	const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'What is the weather in Paris?' }] });
	return messages.at(-1).text;
};
await feature('tools', async () => expectText(await runTools(model), '21 degrees in Paris'));
await feature('reasoning kept', async () => {
	const reasoning = { effort: 'medium' };
	// LangChain drops `reasoning` for models of other vendors, but not `modelKwargs`.
	const openai = modelName.startsWith('gpt-') ? { reasoning } : { modelKwargs: { reasoning } };
	const thinking = open({ anthropic: { thinking: { type: 'adaptive' } }, openai });
	expectText(await runTools(thinking), '21 degrees in Paris');
	await expectSent(reasoningField);
});
await feature('multi-turn', async () => {
	const messages = [];
	for (const content of ['My name is Ada.', 'What is my name?', 'Say it again.']) {
		messages.push({ role: 'user', content });
		messages.push(await model.invoke(messages));
	}
	await expectSent('My name is Ada.');
});
await feature('embeddings', async () => {
	const embeddings = await new OpenAIEmbeddings({ model: 'text-embedding-3-small', ...openaiOptions }).embedDocuments(['one', 'two']);
	if (embeddings.length !== 2) throw new Error('not two embeddings');
});
