/** Close counts of text, for streams that are ended before their limit. */
import { expect, test } from 'vitest';
import { eventsIn } from '../../../test/support/byte-translation.ts';
import { UsageMeter } from './usage-meter.ts';
import { chatUsage, geminiUsage, messagesUsage, type UsageReader } from './usage-reader.ts';

function closely(reader: UsageReader, events: readonly object[], tokensPerCounted = 1) {
	const meter = new UsageMeter(reader, { estimatedInputTokens: 9, isUsageInjected: false, tokensPerCounted });
	for (const event of events) meter.push(eventsIn(`data: ${JSON.stringify(event)}\n\n`));
	const { usage, countedTokens, texts } = meter.read();
	return [usage.outputTokens, countedTokens, texts];
}

const chunk = (content: string): object => ({ choices: [{ index: 0, delta: { content } }] });

test('ASCII has four bytes a token, other text three, and an event at least one', () => {
	expect(closely(chatUsage, [chunk('a'.repeat(400))])).toEqual([100, 100, 1]);
	expect(closely(chatUsage, [chunk('字'.repeat(100))])).toEqual([100, 100, 1]);
	expect(closely(chatUsage, [chunk(`${'a'.repeat(200)}${'字'.repeat(50)}`)])).toEqual([100, 100, 1]);
	expect(
		closely(
			chatUsage,
			Array.from({ length: 50 }, () => chunk('a')),
		),
	).toEqual([50, 50, 50]);
	expect(
		closely(
			chatUsage,
			Array.from({ length: 50 }, () => chunk('é')),
		),
	).toEqual([50, 50, 50]);
});

test('arguments of tools count as text', () => {
	const args = { candidates: [{ content: { parts: [{ functionCall: { name: 'a', args: { text: 'b'.repeat(389) } } }] } }] };
	expect(closely(geminiUsage, [args])).toEqual([100, 100, 1]);
});

test('it is corrected by usage that providers reported for other streams', () => {
	expect(closely(chatUsage, [chunk('a'.repeat(400))], 1.25)).toEqual([125, 100, 1]);
});

test('tokens counted before a report stay counted, and the report replaces them', () => {
	const delta = { type: 'content_block_delta', delta: { type: 'text_delta', text: 'a'.repeat(400) } };
	const events = [{ type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } }, delta];
	expect(closely(messagesUsage, events)).toEqual([101, 100, 1]);
	expect(closely(messagesUsage, [...events, { type: 'message_delta', usage: { output_tokens: 90 } }])).toEqual([90, 100, 1]);
});
