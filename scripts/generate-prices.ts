/** Writes the frozen default prices from a package of public list prices: `node scripts/generate-prices.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProvider, type MatchLogic, type ModelInfo, type ModelPrice } from '@pydantic/genai-prices';
import { parseUsdPerMillionTokens } from '../src/core/money.ts';

const root = join(import.meta.dirname, '..');
const packageName = '@pydantic/genai-prices';
export const defaultPricesPath = join(root, 'src/policy/budgets/default-prices.json');

/** Tollgate's provider kinds, each with the package's provider id and the model names that the vendor itself serves. */
const sources = [
	{ kind: 'anthropic', id: 'anthropic', served: /^claude-/ },
	{ kind: 'azure-openai', id: 'azure', served: /./ },
	{ kind: 'gemini', id: 'google', served: /^(gemini|gemma)-/ },
	{ kind: 'openai', id: 'openai', served: /./ },
] as const;

/** Models with several media: reported usage separates input and output, but not text and audio, so one rate would be wrong. */
const otherMedia = /audio|image|live|moderation|omni|realtime|transcribe|tts|whisper/;

/** Models whose responses are vectors, which cost nothing in addition to the input. */
const embedding = /embed/;

/** Prefixes of the package that are not a model's name, each with the name that it stands for; null for none. */
const prefixNames: Readonly<Record<string, string | null>> = {
	'claude-sonnet-4-2025': null,
	'claude-sonnet-4@': null,
	'ft:gpt-4-0': 'ft:gpt-4',
	'ft:gpt-4o-2024-': 'ft:gpt-4o',
	'ft:gpt-4o-mini-2024-': 'ft:gpt-4o-mini',
	'gemini-2.0-flash-0': 'gemini-2.0-flash',
	'gemini-3-flash-preview-': 'gemini-3-flash-preview',
	'gemma-3-': null,
	'gpt-4o-mini-2024-07-18.ft-': null,
	'gpt-5-nano-': 'gpt-5-nano',
};

/** Names that are `open` may be followed by a version or a date; other names only by a complete date. */
interface ModelName {
	readonly name: string;
	readonly isOpen: boolean;
}

/** Generates the table as of `day`. Prices that change later are written with the day of the change. */
export function generatePrices(day: string): string {
	const { version } = JSON.parse(readFileSync(join(root, 'node_modules', packageName, 'package.json'), 'utf8')) as { version: string };
	const lists = sources.map(({ kind, id, served }) => {
		const models = findProvider({ providerId: id })?.models ?? [];
		if (models.length === 0) throw new Error(`${packageName} has no models of ${id}`);
		const lines = models
			.filter((model) => served.test(model.id) && !otherMedia.test(model.id))
			.toSorted((one, other) => (one.id < other.id ? -1 : 1))
			.flatMap((model) => linesOf(model, day));
		return [kind, lines] as const;
	});
	const from = `pico-US-dollars a token, from ${packageName} ${version} as of ${day}`;
	const about = `List prices, frozen: ${from}. Written by \`node scripts/generate-prices.ts\`; do not edit.`;
	return `${JSON.stringify({ about, day, lists: Object.fromEntries(lists) }, undefined, '\t')}\n`;
}

function linesOf(model: ModelInfo, day: string): string[] {
	const names = namesOf(model);
	const isEmbedding = names.some(({ name }) => embedding.test(name));
	// Azure's list has text models among the names of embeddings.
	const [first, ...others] = isEmbedding ? names.filter(({ name }) => embedding.test(name)) : names;
	const lines: string[] = [];
	for (const { from, prices } of epochsOf(model, day)) {
		const lowerBounds = tierStarts(prices);
		for (const [index, lowerBound] of lowerBounds.entries()) {
			const rates = ratesAbove(isEmbedding ? { output_mtok: 0, ...prices } : prices, lowerBound);
			if (first === undefined || rates === undefined) continue;
			const cells = [written(first).padEnd(28), from.padEnd(10), String(lowerBounds[index + 1] ?? '*').padEnd(6), ...rates.map(padRate)];
			lines.push([...cells, ...(lines.length === 0 ? others.map(written) : [])].join(' ').trimEnd());
		}
	}
	return lines;
}

const written = ({ name, isOpen }: ModelName): string => `${name}${isOpen ? '~' : ''}`;
const padRate = (rate: bigint): string => rate.toString().padStart(9);

/** Prices of a model with the day from which each is valid, without expired ones. */
function epochsOf({ id, prices }: ModelInfo, day: string): { from: string; prices: ModelPrice }[] {
	if (!Array.isArray(prices)) return [{ from: '*', prices }];
	const epochs = prices.map(({ constraint, prices: rates }) => {
		if (constraint?.type === 'time_of_date') throw new Error(`${id} has prices by the hour: the table has no place for them`);
		return { from: constraint?.start_date ?? '*', prices: rates };
	});
	const begun = epochs.filter(({ from }) => from === '*' || from <= day);
	const current = begun.at(-1);
	return [...(current === undefined ? [] : [{ ...current, from: '*' }]), ...epochs.filter(({ from }) => from !== '*' && from > day)];
}

const rateKeys = [
	'input_mtok',
	'cache_read_mtok',
	'cache_write_mtok',
	'cache_write_1h_mtok',
	'output_mtok',
	'output_reasoning_mtok',
] as const;

function tierStarts(prices: ModelPrice): number[] {
	const starts = rateKeys.flatMap((key) => {
		const price = prices[key];
		return typeof price === 'object' ? price.tiers.map(({ start }) => start) : [];
	});
	return [0, ...new Set(starts)].toSorted((one, other) => one - other);
}

/** Returns undefined for models that lack a price of input or output, or cost nothing. */
function ratesAbove(prices: ModelPrice, lowerBound: number): bigint[] | undefined {
	const [input, read, write, writeHour, output, reasoning] = rateKeys.map((key) => rateAbove(prices[key], lowerBound));
	if (input === undefined || output === undefined || input + output === 0n) return undefined;
	return [input, read ?? input, write ?? input, writeHour ?? write ?? input, output, reasoning ?? output];
}

function rateAbove(price: ModelPrice[string], lowerBound: number): bigint | undefined {
	if (price === undefined) return undefined;
	if (typeof price === 'number') return exactRate(price);
	return exactRate(price.tiers.findLast(({ start }) => start <= lowerBound && start > 0)?.price ?? price.base);
}

/** Converts through the shortest decimal that equals the number, which is the price as its author wrote it. */
function exactRate(usdPerMillionTokens: number): bigint {
	const rate = parseUsdPerMillionTokens(String(usdPerMillionTokens));
	if (rate === undefined) throw new Error(`${usdPerMillionTokens} is not a whole number of pico-USD per token`);
	return rate;
}

function namesOf({ id, match }: ModelInfo): ModelName[] {
	const names = new Map<string, boolean>();
	for (const { name, isOpen } of [...(/\w$/.test(id) ? [{ name: id, isOpen: false }] : []), ...matchedNames(match)]) {
		names.set(name, isOpen || names.get(name) === true);
	}
	// Removes dated names that the model's undated name already covers.
	for (const name of names.keys()) {
		const undated = name.replace(/-\d{4}-?\d\d-?\d\d$/, '');
		if (undated !== name && names.has(undated)) names.delete(name);
	}
	return [...names].map(([name, isOpen]) => ({ name, isOpen }));
}

function matchedNames(match: MatchLogic): ModelName[] {
	if ('or' in match) return match.or.flatMap(matchedNames);
	if ('and' in match) return match.and.flatMap(matchedNames);
	if ('equals' in match) return [{ name: match.equals, isOpen: false }];
	if ('ends_with' in match) return [{ name: match.ends_with, isOpen: false }];
	if ('regex' in match) return regexNames(match.regex);
	const prefix = 'starts_with' in match ? match.starts_with : match.contains;
	const name = prefixNames[prefix] === undefined ? prefix : prefixNames[prefix];
	if (name === null) return [];
	if (!/\w$/.test(name)) throw new Error(`\`${prefix}\` is no name of a model: say in \`prefixNames\` what it is about`);
	return [{ name, isOpen: true }];
}

/** Parses the regular expressions of the package: a name with a date, a name followed by a digit, and "is no speech model". */
function regexNames(regex: string): ModelName[] {
	if (regex.startsWith('^(?!')) return [];
	const match = /^\^([\w\\.-]+)-\\d(\{.*)?$/.exec(regex);
	if (match?.[1] === undefined) throw new Error(`cannot say which names \`${regex}\` is about`);
	return [{ name: match[1].replaceAll('\\', ''), isOpen: match[2] === undefined }];
}

if (import.meta.main) {
	writeFileSync(defaultPricesPath, generatePrices(new Date().toISOString().slice(0, 10)));
	console.log(defaultPricesPath);
}
