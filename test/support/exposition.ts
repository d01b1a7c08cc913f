/** Parses and validates the response of `GET /metrics`, by the rules of Prometheus' text format. */

export interface Series {
	readonly name: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly value: number;
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;

/** @throws Error for a line that violates the format. */
export function readExposition(text: string): readonly Series[] {
	return text
		.split('\n')
		.filter((line) => line !== '' && !line.startsWith('#'))
		.map((line) => {
			const [, name = '', inside = '', number = ''] = sampleLine.exec(line) ?? fail(line);
			const pairs = [...inside.matchAll(labelPair)];
			if (pairs.map(([whole]) => whole).join('') !== inside) fail(line);
			const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
			if (Number.isNaN(value) && number !== 'NaN' && number !== 'Nan') fail(line);
			return { name, labels: Object.fromEntries(pairs.map(([, label = '', of = '']) => [label, of])), value };
		});
}

/** Sum of the series that have these labels. @returns undefined if there is none. */
export function valueOf(series: readonly Series[], name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
	const found = series.filter((one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value));
	return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}

/**
 * Reports the problems that `promtool check metrics` would report on names, help texts, types and series.
 * @returns one sentence per problem.
 */
export function lint(text: string): readonly string[] {
	const faults: string[] = [];
	const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
	const helps = new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => [name, help]));
	const headings = [...text.matchAll(/^# (TYPE|HELP) (\S+)/gm)].map(([, kind, name]) => `${kind} ${name}`);
	if (new Set(headings).size !== headings.length) faults.push('a heading stands twice');
	for (const [name, type] of types) {
		if ((helps.get(name) ?? '') === '') faults.push(`${name} has no help`);
		// Excludes the runtime's metrics, whose names all programs of their kind share.
		const isOurs = name.startsWith('tollgate_');
		if (type === 'counter' && !name.endsWith('_total')) faults.push(`${name} is a counter and does not end in _total`);
		if (isOurs && type !== 'counter' && name.endsWith('_total')) faults.push(`${name} is no counter and ends in _total`);
		if (isOurs && !/^[a-z][a-z0-9_]*$/.test(name)) faults.push(`${name} is not in lower case`);
		if (isOurs && /_(ms|milliseconds|kb|mb|minutes|hours)(_|$)/.test(name)) faults.push(`${name} is not in a base unit`);
	}
	const seen = new Set<string>();
	for (const { name, labels } of readExposition(text)) {
		const base = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
		if (!types.has(base)) faults.push(`${name} has no type`);
		const key = `${name} ${Object.entries(labels)
			.map((pair) => JSON.stringify(pair))
			.toSorted((one, other) => (one < other ? -1 : 1))
			.join()}`;
		if (seen.has(key)) faults.push(`${key} stands twice`);
		seen.add(key);
	}
	return faults;
}

function fail(line: string): never {
	throw new Error(`not a line of the text format: ${line}`);
}
