/** Flags for members of the admin API's bodies and queries. The API decides which values are valid. */
import { InvalidArgumentError, Option } from 'commander';

export interface Field {
	/** In commander's syntax, such as `--rpm <number>`. */
	readonly flags: string;
	/** Member of the body or query, such as `limits.rpm`. */
	readonly member: string;
	readonly description: string;
	/** @throws InvalidArgumentError. @param before previous value, for an option that is given again. */
	read(text: string, before: unknown): unknown;
	readonly isRequired?: boolean;
	/** True if it is set when a record is created, and never changed. */
	readonly isFixed?: boolean;
}

type Read = Field['read'];

export const text: Read = (given) => given;

export const integer: Read = (given) => {
	if (!/^-?\d{1,15}$/.test(given)) throw new InvalidArgumentError('It must be a whole number.');
	return Number(given);
};

export const onOrOff: Read = (given) => {
	if (given !== 'true' && given !== 'false') throw new InvalidArgumentError('It must be true or false.');
	return given === 'true';
};

/** Comma-separated; an empty text is an empty list. */
export const list: Read = (given) => (given === '' ? [] : given.split(',').map((item) => item.trim()));

/** Stands for null, because the argument parser reads null as no value. */
const nullChosen = Symbol('null');

/** Reads `none` as null. */
export const orNone =
	(read: Read): Read =>
	(given, before) =>
		given === 'none' ? nullChosen : read(given, before);

/** Reads names of providers whose list is only monitored. */
export const monitored: Read = (given, before) => ({ allow: list(given, before), mode: 'monitor' });

/** Reads `key=value,...`. */
export const pairs: Read = (given) =>
	Object.fromEntries(
		(list(given, undefined) as string[]).map((pair) => {
			const at = pair.indexOf('=');
			if (at < 1) throw new InvalidArgumentError('It must be key=value, separated by commas.');
			return [pair.slice(0, at), pair.slice(at + 1)];
		}),
	);

/** Reads `pattern=rpm:10/tpm:50000,...`. */
export const modelLimits: Read = (given) =>
	Object.fromEntries(
		(list(given, undefined) as string[]).map((one) => {
			const [, pattern = '', limits = ''] = /^(.+)=((?:rpm|tpm):\d{1,15}(?:\/(?:rpm|tpm):\d{1,15})?)$/.exec(one) ?? [];
			if (pattern === '') throw new InvalidArgumentError('It must be pattern=rpm:NUMBER/tpm:NUMBER, separated by commas.');
			return [pattern, Object.fromEntries(limits.split('/').map((limit) => [limit.slice(0, 3), Number(limit.slice(4))]))];
		}),
	);

/** Reads `provider`, `provider/model` or `provider/model=weight`, and appends it to the earlier ones. */
export const target: Read = (given, before) => {
	const [, provider, model, weight] = /^([^/=]+)(?:\/(.+?))?(?:=(\d{1,7}))?$/.exec(given) ?? [];
	if (provider === undefined) throw new InvalidArgumentError('It must be provider, provider/model or provider/model=weight.');
	const one = { provider, ...(model !== undefined && { model }), ...(weight !== undefined && { weight: Number(weight) }) };
	return [...(Array.isArray(before) ? (before as unknown[]) : []), one];
};

export function optionOf({ flags, description, read, isRequired = false }: Field): Option {
	return new Option(flags, description).argParser(read).makeOptionMandatory(isRequired);
}

/** Returns the members of a body; those of an inner object are merged with what `before` has there. */
export function membersOf(
	fields: readonly Field[],
	flags: Readonly<Record<string, unknown>>,
	before: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
	const members: Record<string, unknown> = {};
	for (const field of fields) {
		const chosen = flags[optionOf(field).attributeName()];
		const value = chosen === nullChosen ? null : chosen;
		const [outer = '', inner] = field.member.split('.');
		if (value === undefined) continue;
		members[outer] = inner === undefined ? value : { ...((members[outer] ?? before[outer]) as object | undefined), [inner]: value };
	}
	return members;
}
