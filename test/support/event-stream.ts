/** Server-sent events as a client reads them, with what a conformance test asks about. */

export interface StreamedEvent {
	/** The `event:` line's; undefined without one. */
	readonly name: string | undefined;
	readonly data: string;
}

/** Whole events; a beginning without its blank line is `rest`. Comments are counted and left out. */
export function parseEvents(text: string): { events: StreamedEvent[]; comments: string[]; rest: string } {
	const blocks = text.split('\n\n');
	const rest = blocks.pop() ?? '';
	const events: StreamedEvent[] = [];
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
