import type { JsonObject } from '../../json/parse-body.ts';

export type BlockKind = 'text' | 'thinking' | 'tool_use';

/** Writes the events of one message: blocks strictly one after the other, counted from 0. */
export class MessageEvents {
	#text = '';
	#index = -1;
	/** The block that is open. */
	#open: BlockKind | undefined;

	get open(): BlockKind | undefined {
		return this.#open;
	}

	/** What was written since the last time. */
	take(): string {
		const text = this.#text;
		this.#text = '';
		return text;
	}

	startMessage(id: string, model: string, usage: JsonObject): void {
		const message = {
			id,
			type: 'message',
			role: 'assistant',
			model,
			content: [],
			stop_reason: null,
			stop_sequence: null,
			stop_details: null,
		};
		this.#write('message_start', { type: 'message_start', message: { ...message, usage } });
	}

	/** @param more what is told beside, such as `extra_content`. */
	startTool(id: string, name: string, more: JsonObject = {}): void {
		this.#start('tool_use', { type: 'tool_use', id, name, input: {}, ...more });
	}

	/** Opens a block of text when none is open. */
	addText(text: string): void {
		if (this.#open !== 'text') this.#start('text', { type: 'text', text: '' });
		this.#delta(`"text_delta","text":${JSON.stringify(text)}`);
	}

	/** Opens a block of thinking when none is open. */
	addThinking(text: string): void {
		if (this.#open !== 'thinking') this.#start('thinking', { type: 'thinking', thinking: '', signature: '' });
		this.#delta(`"thinking_delta","thinking":${JSON.stringify(text)}`);
	}

	addInput(json: string): void {
		this.#delta(`"input_json_delta","partial_json":${JSON.stringify(json)}`);
	}

	closeBlock(): void {
		if (this.#open === undefined) return;
		// Not made up: the provider signs nothing.
		if (this.#open === 'thinking') this.#delta('"signature_delta","signature":""');
		this.#text += `event: content_block_stop\ndata: {"type":"content_block_stop","index":${this.#index}}\n\n`;
		this.#open = undefined;
	}

	endMessage(stop: JsonObject, usage: JsonObject): void {
		this.closeBlock();
		this.#write('message_delta', { type: 'message_delta', delta: stop, usage });
		this.#write('message_stop', { type: 'message_stop' });
	}

	fail(error: JsonObject): void {
		this.#write('error', error);
	}

	#start(kind: BlockKind, block: JsonObject): void {
		this.closeBlock();
		this.#index++;
		this.#open = kind;
		this.#write('content_block_start', { type: 'content_block_start', index: this.#index, content_block: block });
	}

	#delta(delta: string): void {
		this.#text += `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":{"type":${delta}}}\n\n`;
	}

	#write(name: string, data: JsonObject): void {
		this.#text += `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
	}
}
