/** Calls `take` with the data of each event in these bytes, several lines joined (WHATWG HTML section 9.2.6). */
export function readEvents(events: Buffer, take: (data: string, name: string) => void): void {
	const raw = events.toString('utf8');
	const text = raw.includes('\r') ? raw.replaceAll(/\r\n?/g, '\n') : raw;
	let data: string | undefined;
	let name = '';
	let start = 0;
	while (start < text.length) {
		let end = text.indexOf('\n', start);
		if (end === -1) end = text.length;
		if (end === start) {
			if (data !== undefined) take(data, name);
			data = undefined;
			name = '';
		} else if (text.startsWith('data:', start)) {
			const value = text.slice(start + 'data:'.length, end);
			data = data === undefined ? value : `${data}\n${value}`;
		} else if (text.startsWith('event:', start)) {
			name = text.slice(start + 'event:'.length, end).trim();
		}
		start = end + 1;
	}
	// The last event may lack its empty line.
	if (data !== undefined) take(data, name);
}
