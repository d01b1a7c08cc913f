import type { Format } from '../../../wire/formats/format.ts';
import { repeatsMember } from '../../../wire/json/repeated-member.ts';
import { readEvent } from '../../../wire/sse/read-event.ts';
import type { EventView, Unreadable } from '../../../wire/text-view.ts';

/** What names a member twice says one thing to one reader and another to the next. Under enforcement it never passes. */
export const ambiguous: Unreadable = { role: 'assistant', type: 'repeated_member', path: [] };

const unread: EventView = { texts: [], unreadable: [{ role: 'assistant', type: 'event', path: [] }], ended: [] };

/** @returns what guardrails see of an event; undefined for chat completions' mark of the end, which says nothing. */
export function viewEvent(data: string, format: Format): EventView | undefined {
	const told = readEvent(data);
	if (told === undefined) return data.trim() === '[DONE]' ? undefined : unread;
	const view = format.textViews.event(told);
	return repeatsMember(data, told) ? { ...view, unreadable: [ambiguous, ...view.unreadable] } : view;
}
