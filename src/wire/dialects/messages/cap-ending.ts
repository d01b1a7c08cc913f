import type { Usage } from '../../../core/usage.ts';
import { EventBatch } from '../../events/event-batch.ts';
import type { CapEnding } from '../dialect.ts';

export class MessagesCapEnding implements CapEnding {
	#hasBegun = false;
	#hasStopReason = false;
	#open: unknown;

	push({ events }: EventBatch): void {
		for (const streamed of events) {
			const one = streamed.json();
			if (one?.type === 'message_start') this.#hasBegun = true;
			else if (one?.type === 'content_block_start') this.#open = one.index;
			else if (one?.type === 'content_block_stop') this.#open = undefined;
			else if (one?.type === 'message_delta') this.#hasStopReason = true;
		}
	}

	end({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens }: Usage): EventBatch | undefined {
		if (!this.#hasBegun) return undefined;
		const events: { readonly type: string }[] = [];
		if (this.#open !== undefined) events.push(event('content_block_stop', { index: this.#open }));
		if (!this.#hasStopReason) {
			const usage = {
				input_tokens: inputTokens,
				cache_creation_input_tokens: cacheWriteTokens,
				cache_read_input_tokens: cacheReadTokens,
				output_tokens: outputTokens,
			};
			events.push(event('message_delta', { delta: { stop_reason: 'max_tokens', stop_sequence: null }, usage }));
		}
		events.push(event('message_stop', {}));
		return EventBatch.ofTexts(events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`));
	}
}

function event(type: string, members: Readonly<Record<string, unknown>>): { readonly type: string } {
	return { type, ...members };
}
