/** A mapping of the file before validation. */
export type Raw = Record<string, unknown>;

/** Path of a value: keys and list positions from the top. */
export type Path = readonly (string | number)[];

export function isRecord(value: unknown): value is Raw {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `providers.provider_a.headers.x-team`, `identity.clients[0].id`; empty for the file as a whole. */
export function formatPath(path: Path): string {
	let text = '';
	for (const step of path) {
		if (typeof step === 'number') text += `[${step}]`;
		else if (/^[A-Za-z_][\w-]*$/.test(step)) text += text === '' ? step : `.${step}`;
		else text += `[${JSON.stringify(step)}]`;
	}
	return text;
}
