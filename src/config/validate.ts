import type { z } from 'zod';
import { findDisagreements } from './cross-checks.ts';
import { builtInProviders, type Environment, withBuiltIns } from './defaults.ts';
import type { ProblemList } from './problem.ts';
import { formatPath, isRecord, type Path, type Raw } from './raw.ts';
import { type Config, configSchema } from './schema.ts';

/** Validates a file's prepared value. Every problem is added to `problems`; the result is valid only if there is none. */
export function validate(fitted: Raw, env: Environment, problems: ProblemList): Config {
	const raw = withBuiltIns(fitted, env);
	const { sound, writtenPath } = parseWhatIsSound(fitted, env, problems);
	const config = frozen(sound);
	for (const [foundAt, message, reliesOn] of findDisagreements(config, raw)) {
		const path = writtenPath(foundAt);
		if (problems.hasWithin(path) || (reliesOn !== undefined && problems.hasWithin(writtenPath(reliesOn)))) continue;
		problems.add(path, message);
	}
	return config;
}

interface SoundSettings {
	readonly sound: ReturnType<typeof configSchema.parse>;
	/** Returns where the file has the value at a path of `sound`: removed items change the indexes of a list. */
	writtenPath(path: Path): Path;
}

/** Removes invalid settings until the rest is valid, so that one run also checks the settings that depend on the rest. */
function parseWhatIsSound(fitted: Raw, env: Environment, problems: ProblemList): SoundSettings {
	const removedItems = new RemovedItems();
	let rest = fitted;
	for (let round = 0; ; round += 1) {
		// The first round reported an invalid key of the environment. Without it the built-ins are always valid.
		const raw = withBuiltIns(rest, round === 0 ? env : {});
		const result = configSchema.safeParse(raw);
		if (result.success) return { sound: result.data, writtenPath: (path) => removedItems.writtenPath(path) };
		const issues = result.error.issues.flatMap(unfolded);
		const paths = issues.map((issue) => issue.path.filter((step) => typeof step !== 'symbol'));
		for (const [index, issue] of issues.entries()) {
			const path = paths[index] ?? [];
			if (round > 0 || (issue.code === 'custom' && problems.hasWithin(path))) continue;
			problems.add(path, issueMessage(issue, valueAt(raw, path)) + originOf(fitted, path), issue.code === 'invalid_key' ? 'key' : 'value');
		}
		const removed = new Map(paths.map((path) => existingSteps(rest, path)).map((steps) => [formatPath(steps), steps]));
		for (const steps of [...removed.values()].toSorted(lastItemFirst)) {
			rest = without(rest, steps);
			removedItems.add(steps);
		}
	}
}

/** Counts the removed items of each list. */
class RemovedItems {
	/** Indexes in the file, ascending, by the list's path in the file. */
	readonly #indexes = new Map<string, number[]>();

	add(path: Path): void {
		const written = this.writtenPath(path);
		const index = written.at(-1);
		if (typeof index !== 'number') return;
		const list = formatPath(written.slice(0, -1));
		this.#indexes.set(
			list,
			[...(this.#indexes.get(list) ?? []), index].toSorted((a, b) => a - b),
		);
	}

	writtenPath(path: Path): Path {
		const written: (string | number)[] = [];
		for (const step of path) {
			const removed = typeof step === 'number' ? (this.#indexes.get(formatPath(written)) ?? []) : [];
			written.push(
				removed.reduce<string | number>((index, gone) => (typeof index === 'number' && gone <= index ? index + 1 : index), step),
			);
		}
		return written;
	}
}

/** Orders removals so that none changes the path of a later one: deeper values and later items first. */
function lastItemFirst(a: Path, b: Path): number {
	for (const [depth, step] of a.entries()) {
		const other = b[depth];
		if (other === undefined) return -1;
		if (step !== other) return typeof step === 'number' && typeof other === 'number' ? other - step : String(step) < String(other) ? -1 : 1;
	}
	return 1;
}

/** Expands the issue of a setting with several forms to the issues inside the mapping, if a mapping is one of them. */
function unfolded(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
	if (issue.code !== 'invalid_union') return [issue];
	const inside = issue.errors.find((inner) => inner.length > 0 && inner.every(({ path }) => path.length > 0));
	return inside?.flatMap((inner) => unfolded({ ...inner, path: [...issue.path, ...inner.path] })) ?? [issue];
}

/** Names the environment variable when a provider's key or a proxy comes from it and not from the file. */
function originOf(fitted: Raw, path: Path): string {
	const [section, name, field] = path;
	if (path.at(-1) === 'proxy' && (valueAt(fitted, path) ?? null) === null) {
		return ' (it comes from HTTPS_PROXY or HTTP_PROXY of the environment)';
	}
	if (section !== 'providers' || field !== 'api_key' || valueAt(fitted, path) !== undefined) return '';
	const builtIn = Object.entries(builtInProviders).find(([provider]) => provider === name)?.[1];
	return builtIn === undefined ? '' : ` (it comes from the environment variable ${builtIn.keyVariable})`;
}

/** Returns the path of the value at `path`, or of its nearest existing parent. */
function existingSteps(raw: Raw, path: Path): Path {
	let value: unknown = raw;
	const missing = path.findIndex((step) => {
		const inside = valueAt(value, [step]);
		const exists = isRecord(value) ? Object.hasOwn(value, step) : inside !== undefined;
		value = inside;
		return !exists;
	});
	return missing === -1 ? path : path.slice(0, missing);
}

/** Returns the value without what is at the path; an empty record when there is no path. */
function without(raw: Raw, path: Path): Raw {
	return path.length === 0 ? {} : (withoutInner(raw, path) as Raw);
}

function withoutInner(value: unknown, [step, ...inner]: Path): unknown {
	if (Array.isArray(value) && typeof step === 'number') {
		return inner.length === 0 ? value.toSpliced(step, 1) : value.with(step, withoutInner(value[step], inner));
	}
	if (!isRecord(value) || step === undefined) return value;
	const { [step]: child, ...others } = value;
	return inner.length === 0 ? others : { ...others, [step]: withoutInner(child, inner) };
}

function valueAt(raw: unknown, path: Path): unknown {
	return path.reduce<unknown>((value, step) => {
		if (typeof step === 'number') return Array.isArray(value) ? value[step] : undefined;
		return isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
	}, raw);
}

/** Returns a frozen copy without prototypes, so that a lookup of `constructor` among aliases finds nothing. */
export function frozen<Value>(value: Value): Value {
	if (Array.isArray(value)) return Object.freeze(value.map(frozen)) as Value;
	if (!isRecord(value)) return value;
	const copy = Object.create(null) as Raw;
	for (const [key, item] of Object.entries(value)) copy[key] = frozen(item);
	return Object.freeze(copy) as Value;
}

type Issue = z.core.$ZodIssue;

/** Describes what a setting must be. Names the type of the given value, never the value: it may be a secret. */
function issueMessage(issue: Issue, given: unknown): string {
	if (given === undefined && issue.code !== 'custom') return 'is required';
	switch (issue.code) {
		case 'invalid_type':
			return `must be ${typeNames[issue.expected] ?? issue.expected}, not ${typeOf(given)}`;
		case 'invalid_value':
			return `must be one of ${issue.values.map(String).join(', ')}`;
		case 'too_small':
			return issue.origin === 'number' || issue.origin === 'int' ? `must be at least ${issue.minimum}` : 'must not be empty';
		case 'too_big':
			return `must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters long' : issue.origin === 'array' ? ' items' : ''}`;
		case 'invalid_key':
			return `has a name that ${issue.issues[0]?.message ?? 'is not valid'}`;
		default:
			return issue.message;
	}
}

const typeNames: Readonly<Record<string, string>> = {
	string: 'a string',
	number: 'a number',
	int: 'a whole number',
	boolean: 'a boolean (true or false)',
	object: 'a mapping',
	record: 'a mapping',
	array: 'a list',
};

function typeOf(value: unknown): string {
	if (value === null) return 'null';
	if (Array.isArray(value)) return 'a list';
	if (typeof value === 'number' && !Number.isInteger(value)) return Number.isFinite(value) ? 'a number with a fraction' : 'infinity or NaN';
	return typeNames[typeof value] ?? typeof value;
}
