interface Family {
	/** Help and type. */
	readonly head: string[];
	readonly lines: string[];
}

/** The figures of several processes as one text. Each series says by its label `worker` whose it is. @param texts by worker. */
export function mergeExpositions(texts: ReadonlyMap<string, string>): string {
	const families = new Map<string, Family>();
	for (const [worker, text] of texts) {
		let family: Family = { head: [], lines: [] };
		let isNew = true;
		for (const line of text.split('\n')) {
			if (line === '') continue;
			if (line.startsWith('# HELP ')) {
				const name = line.split(' ', 3)[2] ?? '';
				isNew = !families.has(name);
				family = families.get(name) ?? { head: [], lines: [] };
				families.set(name, family);
			}
			if (!line.startsWith('#')) family.lines.push(labelled(line, worker));
			else if (isNew) family.head.push(line);
		}
	}
	return [...families.values()].map(({ head, lines }) => `${[...head, ...lines].join('\n')}\n`).join('\n');
}

function labelled(line: string, worker: string): string {
	const end = line.search(/[{ ]/);
	const [name, rest] = [line.slice(0, end), line.slice(end)];
	return rest.startsWith('{') ? `${name}{worker="${worker}",${rest.slice(1)}` : `${name}{worker="${worker}"}${rest}`;
}
