/**
 * Tokens and web searches served by key, wire dialect and model. The provider bills the input of every accepted request, and the output generated up to its
 * end, the cut or the abort. Exact; each request counts once.
 */
export interface BilledTokens {
	readonly input: number;
	readonly cacheWrite: number;
	readonly cacheRead: number;
	/** Output that includes reasoning. */
	readonly output: number;
	readonly reasoning: number;
}

export const noBilledTokens: BilledTokens = { input: 0, cacheWrite: 0, cacheRead: 0, output: 0, reasoning: 0 };

/**
 * `complete`: sent completely. `aborted`: the client disconnected. `broken`: a fault ended it. `rejected`: an error status. `replayed`: a
 * recording, which is not billed.
 */
export type RequestOutcome = 'complete' | 'aborted' | 'broken' | 'rejected' | 'replayed';

export interface BillEntry {
	readonly key: string;
	readonly wire: string;
	readonly model: string;
	readonly outcome: RequestOutcome;
	readonly tokens: BilledTokens;
	readonly webSearches: number;
}

export interface Bill {
	/** Returns a number that each `clear` increments. */
	period(): number;
	/** Adds an entry, unless it belongs to an earlier period. */
	add(entry: BillEntry, period: number): void;
	render(): object;
	clear(): void;
}

interface BillLine {
	key: string;
	dialect: string;
	model: string;
	requests: number;
	complete: number;
	aborted: number;
	broken: number;
	rejected: number;
	replayed: number;
	input_tokens: number;
	cache_write_tokens: number;
	cache_read_tokens: number;
	output_tokens: number;
	reasoning_tokens: number;
	web_search_calls: number;
}

const maxLines = 10_000;

export function createBill(): Bill {
	const lines = new Map<string, BillLine>();
	let total = emptyLine('', '', '');
	let current = 1;

	const lineOf = (entry: BillEntry): BillLine => {
		const name = JSON.stringify([entry.key, entry.wire, entry.model]);
		const known = lines.get(name);
		if (known !== undefined) return known;
		// Names come from clients: beyond the limit they share one entry, so that the total stays exact.
		const line = lines.size < maxLines ? emptyLine(entry.key, entry.wire, entry.model) : (lines.get('') ?? emptyLine('*', '*', '*'));
		lines.set(line.key === '*' ? '' : name, line);
		return line;
	};

	return {
		period: () => current,
		add(entry, period) {
			if (period !== current) return;
			addTo(total, entry);
			addTo(lineOf(entry), entry);
		},
		render() {
			const { key: _key, dialect: _dialect, model: _model, ...totals } = total;
			return { total: totals, lines: [...lines.values()] };
		},
		clear() {
			lines.clear();
			current += 1;
			total = emptyLine('', '', '');
		},
	};
}

function addTo(line: BillLine, entry: BillEntry): void {
	line.requests += 1;
	line[entry.outcome] += 1;
	line.input_tokens += entry.tokens.input;
	line.cache_write_tokens += entry.tokens.cacheWrite;
	line.cache_read_tokens += entry.tokens.cacheRead;
	line.output_tokens += entry.tokens.output;
	line.reasoning_tokens += entry.tokens.reasoning;
	line.web_search_calls += entry.webSearches;
}

function emptyLine(key: string, dialect: string, model: string): BillLine {
	return {
		key,
		dialect,
		model,
		requests: 0,
		complete: 0,
		aborted: 0,
		broken: 0,
		rejected: 0,
		replayed: 0,
		input_tokens: 0,
		cache_write_tokens: 0,
		cache_read_tokens: 0,
		output_tokens: 0,
		reasoning_tokens: 0,
		web_search_calls: 0,
	};
}
