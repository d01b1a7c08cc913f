import type { Usage } from '../../../core/usage.ts';
import { EventBatch } from '../../events/event-batch.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { CapEnding } from '../dialect.ts';
import { writeUsage } from './response-object.ts';

/** Part of an item that is not complete. */
interface OpenPart {
	readonly part: JsonObject;
	/** Name of the events of its text, and of the member with the text. */
	readonly text: readonly [event: string, member: string];
	/** Name of the events of the part, and of its index. */
	readonly place: readonly [event: string, index: string];
	readonly index: number;
	written: string;
	isWritten: boolean;
	isDone: boolean;
}

interface OpenItem {
	readonly item: JsonObject;
	readonly parts: Map<string, OpenPart>;
	/** Arguments of a call. */
	written: string;
}

/** Arguments by type of the item: name of their events, and of the member. */
const callTexts: Readonly<Record<string, readonly [event: string, member: string]>> = {
	function_call: ['function_call_arguments', 'arguments'],
	custom_tool_call: ['custom_tool_call_input', 'input'],
};

const partTexts: Readonly<Record<string, readonly [event: string, member: string]>> = {
	output_text: ['output_text', 'text'],
	refusal: ['refusal', 'refusal'],
	reasoning_text: ['reasoning_text', 'text'],
	summary_text: ['reasoning_summary_text', 'text'],
};

/** Closes the open items of a stream, and ends it as incomplete. */
export class ResponsesCapEnding implements CapEnding {
	#response: JsonObject | undefined;
	#next = 0;
	readonly #open = new Map<number, OpenItem>();
	readonly #done = new Map<number, unknown>();

	push({ events }: EventBatch): void {
		for (const streamed of events) {
			const event = streamed.json();
			if (event !== undefined) this.#read(event);
		}
	}

	end(usage: Usage): EventBatch | undefined {
		if (this.#response === undefined) return undefined;
		const events: JsonObject[] = [];
		for (const [index, open] of this.#open) {
			const item = closeItem(open, index, events);
			events.push({ type: 'response.output_item.done', output_index: index, item });
			this.#done.set(index, item);
		}
		const output = [...this.#done].toSorted(([one], [other]) => one - other).map(([, item]) => item);
		const response = {
			...this.#response,
			status: 'incomplete',
			incomplete_details: { reason: 'max_output_tokens' },
			output,
			usage: writeUsage(usage),
		};
		events.push({ type: 'response.incomplete', response });
		return EventBatch.ofTexts(
			events.map(({ type, ...members }) => {
				const data = JSON.stringify({ type, sequence_number: this.#next++, ...members });
				return `event: ${String(type)}\ndata: ${data}\n\n`;
			}),
		);
	}

	#read(event: JsonObject): void {
		const { type, sequence_number, output_index, item, response } = event;
		if (typeof sequence_number === 'number') this.#next = sequence_number + 1;
		if (type === 'response.created' && isJsonObject(response)) this.#response = response;
		if (typeof output_index !== 'number') return;
		if (type === 'response.output_item.added' && isJsonObject(item)) {
			this.#open.set(output_index, { item, parts: new Map(), written: '' });
		} else if (type === 'response.output_item.done') {
			this.#open.delete(output_index);
			this.#done.set(output_index, item);
		} else {
			const open = this.#open.get(output_index);
			if (open !== undefined && typeof type === 'string') readPart(open, type, event);
		}
	}
}

function readPart(open: OpenItem, type: string, event: JsonObject): void {
	const { part, delta, content_index, summary_index } = event;
	const place = summary_index === undefined ? 'content' : 'summary';
	const index = Number(summary_index ?? content_index ?? 0);
	const key = `${place}/${index}`;
	if (isJsonObject(part)) {
		const text = partTexts[String(part.type)];
		const known = open.parts.get(key);
		if (type.endsWith('.done')) {
			if (known !== undefined) known.isDone = true;
			open.parts.set(key, { ...(known ?? emptyPart(place, index)), part, isDone: true });
		} else if (text !== undefined) {
			open.parts.set(key, { ...emptyPart(place, index), part, text, written: textOf(part[text[1]]) });
		}
		return;
	}
	const known = open.parts.get(key);
	const isPart = content_index !== undefined || summary_index !== undefined;
	if (type.endsWith('.delta') && typeof delta === 'string') {
		if (isPart && known !== undefined) known.written += delta;
		else if (!isPart) open.written += delta;
	} else if (type.endsWith('.done') && known !== undefined && isPart) known.isWritten = true;
}

function emptyPart(place: 'content' | 'summary', index: number): Omit<OpenPart, 'part'> {
	return {
		text: ['output_text', 'text'],
		place: place === 'content' ? ['content_part', 'content_index'] : ['reasoning_summary_part', 'summary_index'],
		index,
		written: '',
		isWritten: false,
		isDone: false,
	};
}

function textOf(value: unknown): string {
	return typeof value === 'string' ? value : '';
}

/** @param events receives the events that end the item's parts. @returns the item. */
function closeItem({ item, parts, written }: OpenItem, output_index: number, events: JsonObject[]): JsonObject {
	const at = { item_id: item.id, output_index };
	const closed: { content: JsonObject[]; summary: JsonObject[] } = { content: [], summary: [] };
	for (const [key, open] of parts) {
		const { text, place, index } = open;
		const part = open.isDone ? open.part : { ...open.part, [text[1]]: open.written };
		closed[key.startsWith('summary') ? 'summary' : 'content'].push(part);
		if (open.isDone) continue;
		const where = { ...at, [place[1]]: index };
		if (!open.isWritten) {
			const logprobs = text[0] === 'output_text' ? { logprobs: [] } : {};
			events.push({ type: `response.${text[0]}.done`, ...where, [text[1]]: open.written, ...logprobs });
		}
		events.push({ type: `response.${place[0]}.done`, ...where, part });
	}
	const call = callTexts[String(item.type)];
	if (call !== undefined) {
		events.push({ type: `response.${call[0]}.done`, ...at, [call[1]]: written, ...(call[1] === 'arguments' && { name: item.name }) });
		return { ...item, [call[1]]: written, status: 'incomplete' };
	}
	return {
		...item,
		...(closed.content.length > 0 && { content: closed.content }),
		...(closed.summary.length > 0 && { summary: closed.summary }),
		status: 'incomplete',
	};
}
