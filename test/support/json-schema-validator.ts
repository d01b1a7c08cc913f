/**
 * Validator of JSON Schema (2020-12 without dynamic references), written from the specification without code of `src`. Tests of schema
 * conformity must be independent of the code under test.
 */
type Schema = boolean | { readonly [keyword: string]: unknown };

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns violations, each with its path; empty if the value is valid. */
export function schemaErrors(schema: unknown, value: unknown): string[] {
	const errors: string[] = [];
	visit(schema as Schema, value, '$', schema, errors, 0);
	return errors;
}

function fits(schema: unknown, value: unknown, root: unknown, depth: number): boolean {
	const errors: string[] = [];
	visit(schema as Schema, value, '$', root, errors, depth);
	return errors.length === 0;
}

function visit(schema: Schema, value: unknown, at: string, root: unknown, errors: string[], depth: number): void {
	if (depth > 200) throw new Error('too deep');
	if (schema === true || schema === undefined) return;
	if (schema === false) {
		errors.push(`${at}: nothing is allowed here`);
		return;
	}
	const say = (what: string): void => void errors.push(`${at}: ${what}, is ${JSON.stringify(value)?.slice(0, 80)}`);
	const list = (keyword: string): unknown[] => (Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : []);
	const count = (keyword: string): number | undefined => (typeof schema[keyword] === 'number' ? schema[keyword] : undefined);

	if (typeof schema['$ref'] === 'string') visit(follow(root, schema['$ref']), value, at, root, errors, depth + 1);
	if (value === null && schema['nullable'] === true) return;
	const types = (Array.isArray(schema['type']) ? schema['type'] : [schema['type']]).filter((type) => typeof type === 'string');
	if (types.length > 0 && !types.some((type) => isOfType(value, type.toLowerCase()))) say(`must be ${types.join(' or ')}`);
	if ('const' in schema && !isSame(schema['const'], value)) say(`must be ${JSON.stringify(schema['const'])}`);
	if (Array.isArray(schema['enum']) && !list('enum').some((one) => isSame(one, value))) say('is not in the enum');
	for (const part of list('allOf')) visit(part as Schema, value, at, root, errors, depth + 1);
	if (list('anyOf').length > 0 && !list('anyOf').some((one) => fits(one, value, root, depth + 1))) say('fits no option of anyOf');
	if (list('oneOf').length > 0 && list('oneOf').filter((one) => fits(one, value, root, depth + 1)).length !== 1) {
		say('fits not one of oneOf');
	}
	if ('not' in schema && fits(schema['not'], value, root, depth + 1)) say('fits not');

	if (typeof value === 'string') {
		const length = Array.from(value).length;
		if (length < (count('minLength') ?? 0)) say('is too short');
		if (length > (count('maxLength') ?? Infinity)) say('is too long');
		if (typeof schema['pattern'] === 'string' && !new RegExp(schema['pattern'], 'u').test(value)) {
			say(`does not match ${schema['pattern']}`);
		}
		const format = formats[String(schema['format'])];
		if (format !== undefined && !format(value)) say(`is no ${String(schema['format'])}`);
	}
	if (typeof value === 'number') {
		if (value < (count('minimum') ?? -Infinity)) say('is too small');
		if (value > (count('maximum') ?? Infinity)) say('is too large');
		if (value <= (count('exclusiveMinimum') ?? -Infinity)) say('is too small');
		if (value >= (count('exclusiveMaximum') ?? Infinity)) say('is too large');
		const multiple = count('multipleOf');
		if (multiple !== undefined && Math.abs(value / multiple - Math.round(value / multiple)) > 1e-9) say(`is no multiple of ${multiple}`);
	}
	if (Array.isArray(value)) {
		if (value.length < (count('minItems') ?? 0)) say('has too few items');
		if (value.length > (count('maxItems') ?? Infinity)) say('has too many items');
		if (schema['uniqueItems'] === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length) say('repeats an item');
		const first = list('prefixItems');
		for (const [index, item] of value.entries()) {
			const itemSchema = index < first.length ? first[index] : schema['items'];
			visit((itemSchema ?? true) as Schema, item, `${at}[${index}]`, root, errors, depth + 1);
		}
		if (
			'contains' in schema &&
			value.filter((item) => fits(schema['contains'], item, root, depth + 1)).length < (count('minContains') ?? 1)
		) {
			say('contains too few');
		}
	}
	if (isRecord(value)) {
		const properties = isRecord(schema['properties']) ? schema['properties'] : {};
		const patterns = isRecord(schema['patternProperties']) ? Object.entries(schema['patternProperties']) : [];
		const names = Object.keys(value);
		for (const name of list('required')) if (!Object.hasOwn(value, String(name))) say(`lacks ${String(name)}`);
		if (names.length < (count('minProperties') ?? 0)) say('has too few properties');
		if (names.length > (count('maxProperties') ?? Infinity)) say('has too many properties');
		for (const name of names) {
			const place = `${at}.${name}`;
			if ('propertyNames' in schema) visit(schema['propertyNames'] as Schema, name, `${place} (name)`, root, errors, depth + 1);
			const matching = patterns.filter(([pattern]) => new RegExp(pattern, 'u').test(name)).map(([, one]) => one);
			if (Object.hasOwn(properties, name)) matching.push(properties[name]);
			for (const one of matching) visit(one as Schema, value[name], place, root, errors, depth + 1);
			if (matching.length === 0) visit((schema['additionalProperties'] ?? true) as Schema, value[name], place, root, errors, depth + 1);
		}
	}
}

function follow(root: unknown, reference: string): Schema {
	if (!reference.startsWith('#')) throw new Error(`a foreign reference: ${reference}`);
	let node: unknown = root;
	for (const step of reference.slice(1).split('/').filter(Boolean)) {
		const name = decodeURIComponent(step.replaceAll('~1', '/').replaceAll('~0', '~'));
		node = (node as Record<string, unknown> | undefined)?.[name];
	}
	if (node === undefined) throw new Error(`${reference} leads nowhere`);
	return node as Schema;
}

function isOfType(value: unknown, type: string): boolean {
	if (type === 'null') return value === null;
	if (type === 'integer') return Number.isInteger(value);
	if (type === 'array') return Array.isArray(value);
	if (type === 'object') return isRecord(value);
	return typeof value === type;
}

function isSame(one: unknown, other: unknown): boolean {
	if (Array.isArray(one) && Array.isArray(other)) {
		return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
	}
	if (isRecord(one) && isRecord(other)) {
		const names = Object.keys(one);
		return (
			names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
		);
	}
	return one === other;
}

const formats: Readonly<Record<string, (text: string) => boolean>> = {
	date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
	'date-time': (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)),
	time: (text) => /^\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text),
	duration: (text) => /^P(?!$)(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?$/.test(text),
	email: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
	uri: (text) => URL.canParse(text),
	uuid: (text) => /^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i.test(text),
	hostname: (text) => /^(?!-)[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63})*$/i.test(text),
	ipv4: (text) => /^(?:\d{1,3}\.){3}\d{1,3}$/.test(text) && text.split('.').every((part) => Number(part) < 256),
	ipv6: (text) => URL.canParse(`http://[${text}]/`),
};
