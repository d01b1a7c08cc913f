import type { Format } from '../../../wire/formats/format.ts';
import { readEvent } from '../../../wire/sse/read-event.ts';
import type { EventView } from '../../../wire/text-view.ts';

const unread: EventView = { texts: [], unreadable: [{ role: 'assistant', type: 'event', path: [] }], ended: [] };

/** @returns what guardrails see of an event; undefined for chat completions' mark of the end, which says nothing. */
export function viewEvent(data: string, format: Format): EventView | undefined {
	const told = readEvent(data);
	if (told !== undefined) return format.textViews.event(told);
	return data.trim() === '[DONE]' ? undefined : unread;
}
