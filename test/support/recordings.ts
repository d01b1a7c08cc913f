import { readdirSync, readFileSync } from 'node:fs';

/** Recorded response of a provider, see `test/fixtures/recorded/README.md`. */
export interface Recording {
	/** File, such as `openai/text-stream.json`. */
	readonly name: string;
	readonly request?: { readonly method: string; readonly path: string; readonly body: Readonly<Record<string, unknown>> };
	readonly response: {
		readonly status: number;
		readonly headers: Readonly<Record<string, string>>;
		readonly json?: unknown;
		readonly sse?: string;
	};
}

const folder = new URL('../fixtures/recorded/', import.meta.url);

/** Recordings of one provider: `anthropic`, `azure`, `gemini` or `openai`. */
export function readRecordings(provider: string): Recording[] {
	const names = readdirSync(new URL(`${provider}/`, folder)).filter((name) => name.endsWith('.json'));
	return names.map(
		(name) => ({ name: `${provider}/${name}`, ...JSON.parse(readFileSync(new URL(`${provider}/${name}`, folder), 'utf8')) }) as Recording,
	);
}

/** Bytes of the body as received. JSON bodies are stored as values, so their whitespace is not the vendor's. */
export function recordedBytes({ response }: Recording): Buffer {
	return Buffer.from(response.sse ?? JSON.stringify(response.json));
}
