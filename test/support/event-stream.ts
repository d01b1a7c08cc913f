/** Server-sent events as a client reads them, with the details that conformance tests check. */

export interface StreamingEvent {
	/** Value of the `event:` line; undefined without one. */
	readonly name: string | undefined;
	readonly data: string;
}

/** Parses complete events; an incomplete one is `rest`. Comments are returned separately. */
export function parseEvents(text: string): { events: StreamingEvent[]; comments: string[]; rest: string } {
	const blocks = text.split('\n\n');
	const rest = blocks.pop() ?? '';
	const events: StreamingEvent[] = [];
	const comments: string[] = [];
	for (const block of blocks) {
		const lines = block.split('\n');
		comments.push(...lines.filter((line) => line.startsWith(':')));
		const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim());
		if (data.length === 0) continue;
		const name = lines.find((line) => line.startsWith('event:'));
		events.push({ name: name?.slice(6).trim(), data: data.join('\n') });
	}
	return { events, comments, rest };
}
