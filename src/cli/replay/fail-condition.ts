/** Conditions such as `rejected>0.1%`, by which a replay fails a build. */
import { CommandFailure } from '../command-failure.ts';

const counted = ['same', 'rejected', 'admitted', 'rerouted', 'capped', 'requests'] as const;
const priced = ['cost_usd_before', 'cost_usd_after'] as const;
const fields: readonly string[] = [...counted, ...priced];

const comparisons: Readonly<Record<string, (left: bigint, right: bigint) => boolean>> = {
	'>': (left, right) => left > right,
	'>=': (left, right) => left >= right,
	'<': (left, right) => left < right,
	'<=': (left, right) => left <= right,
	'=': (left, right) => left === right,
};

export interface FailCondition {
	/** True if the result of a replay meets the condition. */
	isMet(result: Readonly<Record<string, unknown>>): boolean;
}

const pattern = /^\s*([a-z_]+)\s*(>=|<=|>|<|=)\s*(\$?)(\d{1,12}(?:\.\d{1,9})?)\s*(%?)\s*$/;

/** Amounts are compared as whole billionths. */
const scale = 1_000_000_000n;

/**
 * Parses a field, a comparison and an amount. A percentage of a count is one of all requests; of `cost_usd_after`, one of the cost before.
 * @throws CommandFailure 1 with the mistake.
 */
export function parseFailCondition(text: string): FailCondition {
	const [, field = '', sign = '', dollar, amount = '', percent] = pattern.exec(text) ?? [];
	const compare = comparisons[sign];
	if (compare === undefined) {
		throw mistake(text, "it must be FIELD, one of > >= < <= =, and an amount, such as 'rejected>0.1%' or 'cost_usd_after>12.50'");
	}
	const isPriced = priced.some((one) => one === field);
	if (!fields.includes(field)) throw mistake(text, `unknown field ${field}: use one of ${fields.join(', ')}`);
	if (dollar === '$' && (!isPriced || percent === '%')) throw mistake(text, `$ is for cost_usd_before and cost_usd_after, without %`);
	const isShare = percent === '%';
	const isWhole = field === 'requests' || field === 'cost_usd_before';
	if (isShare && isWhole) throw mistake(text, `${field} is what percentages refer to: use an amount`);
	if (!isShare && !isPriced && amount.includes('.')) throw mistake(text, `${field} is a whole number: use one, or add %`);
	const wanted = scaled(amount);
	return {
		isMet(result) {
			const value = scaled(String(result[field]));
			if (!isShare) return compare(value, wanted);
			const whole = scaled(String(result[isPriced ? 'cost_usd_before' : 'requests']));
			return compare(value * 100n * scale, wanted * whole);
		},
	};
}

function mistake(text: string, message: string): CommandFailure {
	return new CommandFailure(1, `--fail-if ${JSON.stringify(text)}: ${message}`);
}

function scaled(decimal: string): bigint {
	const [whole = '0', fraction = ''] = decimal.split('.');
	return BigInt(whole) * scale + BigInt(fraction.padEnd(9, '0').slice(0, 9) || '0');
}
