/** The full path of a stream whose client did not ask for usage, against simulated providers: requested, reported, removed. */

import { describe, expect, it } from 'vitest';
import { planResponse } from '../../../simulator/plan/plan-response.ts';
import { planOf } from '../../../simulator/plan/prompt-digest.ts';
import { createSeededRandom } from '../../../simulator/seeded-random.ts';
import { azureWire } from '../../../simulator/wires/azure/azure.ts';
import { geminiOpenAiWire } from '../../../simulator/wires/gemini/gemini-openai.ts';
import { openAiWire } from '../../../simulator/wires/openai/openai.ts';
import type { Wire, WireTarget } from '../../../simulator/wires/wire.ts';
import { eventsIn } from '../../../test/support/byte-translation.ts';
import { requestUsage } from '../dialects/chat/request-edits.ts';
import { parseBody } from '../json/parse-body.ts';
import { spliceBody } from '../json/splice-body.ts';
import { UsageMeter } from './usage-meter.ts';
import { chatUsage } from './usage-reader.ts';

const target: WireTarget = { headers: {}, query: new URLSearchParams(), model: undefined, action: 'generate', isStream: false };
const input = { input: 20, cacheRead: 12, cacheWrite: 0, cacheWriteLong: 0 };
const quirks = { omitsUsage: false, repeatsStart: false, omitsIndex: false, emptiesIds: false, tokensPerEvent: undefined };

/** Returns a provider's stream for a request, with the same random numbers each time. */
function streamOf(wire: Wire, request: Buffer): { readonly events: readonly Buffer[]; readonly outputTokens: number } {
	const body = JSON.parse(request.toString()) as { readonly model: string };
	const call = wire.openRequest(body, body.model, target);
	const random = createSeededRandom(7);
	const plan = planResponse(planOf(wire.readPrompt(body, body.model, target)), input, {}, random);
	const events = [...call.renderEvents({ plan, random, createdSeconds: 1_790_000_000, quirks })].map(({ bytes }) => Buffer.from(bytes));
	return { events, outputTokens: plan.usage.output };
}

const messages = [{ role: 'user', content: 'Say "usage":null and {"usage":{}} to the world.' }];
const tools = [
	{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: { usage: { type: 'string' } } } } },
];
// Obfuscation padding is random and differs once there is one more chunk.
const plain = { stream_options: { include_obfuscation: false } };

const requests: readonly (readonly [name: string, Wire, Record<string, unknown>])[] = [
	['text', openAiWire, { model: 'gpt-4o-mini', messages }],
	['text without padding', openAiWire, { model: 'gpt-4o-mini', messages, ...plain }],
	['text whose caller asked not to', openAiWire, { model: 'gpt-4o-mini', messages, stream_options: { include_usage: false } }],
	['tool calls', openAiWire, { model: 'gpt-4o-mini', messages, tools, tool_choice: 'required' }],
	['reasoning', openAiWire, { model: 'o4-mini', messages, reasoning_effort: 'high' }],
	['two choices', openAiWire, { model: 'gpt-4o-mini', messages, n: 2 }],
	['moderation', openAiWire, { model: 'gpt-4o-mini', messages, moderation: { model: 'omni-moderation-latest' }, ...plain }],
	['Azure', azureWire, { model: 'gpt-4o-mini', messages }],
	['Azure tool calls', azureWire, { model: 'gpt-4o-mini', messages, tools, tool_choice: 'required' }],
	['Gemini', geminiOpenAiWire, { model: 'gemini-2.5-flash', messages }],
	['Gemini thinking', geminiOpenAiWire, { model: 'gemini-2.5-pro', messages, reasoning_effort: 'high' }],
];

describe.each(requests)('%s', (_name, wire, request) => {
	const injected = Buffer.from(JSON.stringify({ ...request, stream: true }));
	const body = parseBody(injected, new Set(['stream_options']));
	const requested = spliceBody(body.bytes, requestUsage(body));
	const { events, outputTokens } = streamOf(wire, requested);

	it('reaches the client as if usage had not been requested, and is charged the reported usage', () => {
		const meter = new UsageMeter(chatUsage, { estimatedInputTokens: 1, isUsageInjected: true });
		const relayed = Buffer.concat(events.map((event) => meter.push(eventsIn(event)).bytes)).toString();
		expect(Buffer.concat(events).toString()).toContain('"usage":{');
		expect(relayed).toBe(Buffer.concat(streamOf(wire, injected).events).toString());
		expect(meter.read()).toMatchObject({ usage: { inputTokens: 20, cacheReadTokens: 12, outputTokens }, isEstimated: false });
	});

	it('reaches a client that asked for usage byte for byte', () => {
		const meter = new UsageMeter(chatUsage, { estimatedInputTokens: 1, isUsageInjected: false });
		for (const event of events) expect(meter.push(eventsIn(event)).bytes.equals(event)).toBe(true);
	});
});
