import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** Says what a setting must be. Names the kind of value that was given, never the value: it may be a secret. */
export function issueMessage(issue: Issue, given: unknown): string {
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
	string: 'a text',
	number: 'a number',
	int: 'a whole number',
	boolean: 'true or false',
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
