import type { ClientDialect } from '../../../wire/dialects/dialect.ts';
import { clientDialects } from '../../../wire/dialects/dialects.ts';
import { heartbeat, type StreamEvent } from '../../../wire/events/stream-event.ts';
import { repeatsMember } from '../../../wire/json/repeated-member.ts';
import type { EventView, Unreadable } from '../../../wire/text-view.ts';

/** A repeated member, which parsers read differently. Under enforcement it never passes. */
export const ambiguous: Unreadable = { role: 'assistant', type: 'repeated_member', path: [] };

const silentData: ReadonlySet<string> = new Set(['', '[DONE]']);

/** An event that is no JSON object, or has lines that are no fields. Clients may show it; guardrails cannot read it. */
export const unparsed: Unreadable = { role: 'assistant', type: 'event', path: [] };

const unread: EventView = { texts: [], unreadable: [unparsed], ended: [] };

/** @returns the texts of an event for guardrails; undefined for comments, empty data and the end of chat completions, which have none. */
export function viewEvent(event: StreamEvent, format: ClientDialect): EventView | undefined {
	const { data } = event;
	if (data === undefined) return undefined;
	const members = event.json();
	if (members === undefined) return silentData.has(data.trim()) ? undefined : unread;
	const view = format.textViews.event(members);
	return repeatsMember(data, members) ? { ...view, unreadable: [ambiguous, ...view.unreadable] } : view;
}

const otherFields: ReadonlySet<string> = new Set(['event', 'id', 'retry', '']);

/** Fields without text: event names of all formats, and heartbeats. */
const silentFields: ReadonlySet<string> = new Set([
	...Object.values(clientDialects).flatMap(({ textViews }) => textViews.eventNames.map((name) => `event: ${name}`)),
	heartbeat.toString().trimEnd(),
]);

export interface OtherFields {
	/** Comments and fields other than `data`, which clients may show. */
	readonly texts: readonly string[];
	/** True if a line is neither a field nor a comment: clients that are less strict than the standard might read it. */
	readonly hasUnknown: boolean;
}

const noFields: OtherFields = { texts: [], hasUnknown: false };

/** Returns the contents of an event next to its data. */
export function viewOtherFields({ otherLines }: StreamEvent): OtherFields {
	if (otherLines.every((line) => silentFields.has(line))) return noFields;
	const texts: string[] = [];
	let hasUnknown = false;
	for (const line of otherLines) {
		if (line === 'data' || silentFields.has(line)) continue;
		const colon = line.indexOf(':');
		if (!otherFields.has(colon === -1 ? line : line.slice(0, colon))) hasUnknown = true;
		else if (colon !== -1) texts.push(line.slice(colon + 1).trim());
	}
	return { texts: texts.filter((text) => text !== ''), hasUnknown };
}
