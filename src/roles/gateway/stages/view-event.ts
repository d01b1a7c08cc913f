import type { Format } from '../../../wire/formats/format.ts';
import { repeatsMember } from '../../../wire/json/repeated-member.ts';
import { readEvent } from '../../../wire/sse/read-event.ts';
import type { EventView, Unreadable } from '../../../wire/text-view.ts';

/** What names a member twice says one thing to one reader and another to the next. Under enforcement it never passes. */
export const ambiguous: Unreadable = { role: 'assistant', type: 'repeated_member', path: [] };

const silentData: ReadonlySet<string> = new Set(['', '[DONE]']);

/** An event that is no JSON object, or has lines that are no fields. Clients may show it; guardrails cannot read it. */
export const unparsed: Unreadable = { role: 'assistant', type: 'event', path: [] };

const unread: EventView = { texts: [], unreadable: [unparsed], ended: [] };

/** @returns what guardrails see of an event; undefined for an empty one and for chat completions' mark of the end, which say nothing. */
export function viewEvent(data: string, format: Format): EventView | undefined {
	const told = readEvent(data);
	if (told === undefined) return silentData.has(data.trim()) ? undefined : unread;
	const view = format.textViews.event(told);
	return repeatsMember(data, told) ? { ...view, unreadable: [ambiguous, ...view.unreadable] } : view;
}
