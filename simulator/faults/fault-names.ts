/**
 * Parses the readable names of faults in model names (`claude-sim-stall-3`), in the header `x-simulator-fault` and in control requests.
 * Dashes join the names; unknown words are labels.
 */
import type { FaultPlan } from './fault-plan.ts';

interface FaultName {
	readonly words: string;
	/** Meaning of the number after the name, and its default. */
	readonly number?: { readonly meaning: string; readonly otherwise: number };
	readonly effect: string;
	readonly plan: (value: number) => FaultPlan;
}

/** Limits the number that clients choose, because the whole text is generated at once. */
const maxTokens = 1_000_000;
const maxKib = 1024;

export const faultNames: readonly FaultName[] = [
	{
		words: 'slow-first-byte',
		number: { meaning: 'ms', otherwise: 2000 },
		effect: 'Delayed response headers',
		plan: (ms) => ({ firstByteMs: ms }),
	},
	{
		words: 'slow-first-event',
		number: { meaning: 'ms', otherwise: 2000 },
		effect: 'Delayed first event',
		plan: (ms) => ({ firstEventMs: ms }),
	},
	{ words: 'interval', number: { meaning: 'ms', otherwise: 50 }, effect: 'Time between two events', plan: (ms) => ({ intervalMs: ms }) },
	{
		words: 'tokens',
		number: { meaning: 'tokens', otherwise: 100 },
		effect: 'Text of exactly N tokens',
		plan: (tokens) => ({ outputTokens: Math.min(tokens, maxTokens) }),
	},
	{
		words: 'think',
		number: { meaning: 'tokens', otherwise: 100 },
		effect: 'Reasoning of exactly N tokens',
		plan: (tokens) => ({ thinkingTokens: Math.min(tokens, maxTokens) }),
	},
	{
		words: 'large-events',
		number: { meaning: 'KiB', otherwise: 64 },
		effect: 'Three events of N KiB each',
		plan: (kib) => ({ tokensPerEvent: Math.min(kib, maxKib) * 256, outputTokens: Math.min(kib, maxKib) * 256 * 3 }),
	},
	{
		words: 'stall',
		number: { meaning: 'events', otherwise: 3 },
		effect: 'Stalls for ten minutes after N events, then disconnects',
		plan: (events) => ({ breakOff: { afterEvents: events, manner: 'stall' } }),
	},
	{
		words: 'cut-after',
		number: { meaning: 'events', otherwise: 3 },
		effect: 'Disconnects after N events',
		plan: (events) => ({ breakOff: { afterEvents: events, manner: 'cut' } }),
	},
	{
		words: 'cut-mid-event',
		number: { meaning: 'events', otherwise: 3 },
		effect: 'Disconnects in the middle of the event after N events',
		plan: (events) => ({ breakOff: { afterEvents: events, manner: 'cut-inside' } }),
	},
	{
		words: 'end-after',
		number: { meaning: 'events', otherwise: 3 },
		effect: 'Ends cleanly after N events without a final event',
		plan: (events) => ({ breakOff: { afterEvents: events, manner: 'end' } }),
	},
	{
		words: 'error-mid-stream',
		number: { meaning: 'events', otherwise: 3 },
		effect: 'Vendor error event after N events',
		plan: (events) => ({ breakOff: { afterEvents: events, manner: 'error-event' } }),
	},
	{ words: 'reset', effect: 'Disconnects before the first byte', plan: () => ({ silence: 'reset' }) },
	{ words: 'hang', effect: 'No bytes; the connection stays open for ten minutes', plan: () => ({ silence: 'hang' }) },
	{ words: 'empty', effect: '200 with an empty body', plan: () => ({ replacement: 'empty' }) },
	{ words: 'html-200', effect: '200 with an HTML page', plan: () => ({ replacement: 'html' }) },
	{ words: 'redirect', effect: '307 to another address', plan: () => ({ replacement: 'redirect' }) },
	{ words: 'wrong-content-type', effect: 'The right body as `text/plain`', plan: () => ({ hasWrongContentType: true }) },
	{ words: 'malformed-json', effect: 'The body, or the third event, is not JSON', plan: () => ({ isMalformed: true }) },
	{ words: 'usage-missing', effect: 'No usage reported', plan: () => ({ omitsUsage: true }) },
	{ words: 'duplicate-message-start', effect: 'The opening event is repeated in the middle', plan: () => ({ repeatsStart: true }) },
	{ words: 'missing-index', effect: 'Tool calls and blocks without `index`', plan: () => ({ omitsIndex: true }) },
	{ words: 'empty-ids', effect: 'Tool calls with an empty id', plan: () => ({ emptiesIds: true }) },
	{ words: 'refusal', effect: 'Model sends `refusal`', plan: () => ({ declines: 'refusal' }) },
	{ words: 'content-filter', effect: 'The vendor’s filter stops the response', plan: () => ({ declines: 'filter' }) },
	{ words: 'failed', effect: 'Response with status `failed` (Responses API), or 500', plan: () => ({ declines: 'failure' }) },
	{ words: '429-quota', effect: '429 for exhausted quota; a retry does not help', plan: () => ({ status: 429, isQuota: true }) },
	{
		words: 'retry-after',
		number: { meaning: 's', otherwise: 1 },
		effect: '`retry-after` of an error',
		plan: (seconds) => ({ retryAfterSeconds: seconds }),
	},
];

const maxNameWords = 3;
const nameByWords = new Map(faultNames.map((name) => [name.words, name]));

/** Parses a composed name such as `tokens-500-interval-10-cut-after-3`. A number from 400 to 599 alone is a status. */
export function readFaultNames(composed: string): FaultPlan {
	const words = composed
		.toLowerCase()
		.split(/[-,\s]+/)
		.filter(Boolean);
	const plan: FaultPlan = {};
	let at = 0;
	while (at < words.length) {
		const name = maxNameAtLength(words, at);
		if (name === undefined) {
			Object.assign(plan, readStatus(words[at] ?? ''));
			at += 1;
			continue;
		}
		at += name.words.split('-').length;
		const value = /^\d{1,9}$/.test(words[at] ?? '') && name.number !== undefined ? Number(words[at++]) : (name.number?.otherwise ?? 0);
		Object.assign(plan, name.plan(value));
	}
	return plan;
}

/** Splits a model name before the part that names faults: `claude-sim-stall-3` is `claude` and `stall-3`. */
export function splitModelName(model: string): { base: string; faults: string | undefined } {
	const match = /^(?:(.*?)-)?sim(?:-(.*))?$/.exec(model);
	if (match === null) return { base: model, faults: undefined };
	return { base: match[1] ?? '', faults: match[2] ?? '' };
}

function maxNameAtLength(words: readonly string[], at: number): FaultName | undefined {
	for (let length = maxNameWords; length > 0; length--) {
		const name = nameByWords.get(words.slice(at, at + length).join('-'));
		if (name !== undefined) return name;
	}
	return undefined;
}

function readStatus(word: string): FaultPlan {
	return /^[45]\d\d$/.test(word) ? { status: Number(word) } : {};
}
