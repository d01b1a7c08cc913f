import { expect, it } from 'vitest';
import { parseFailCondition } from './fail-condition.ts';

const result = {
	requests: 3000,
	same: 2990,
	rejected: 3,
	admitted: 0,
	rerouted: 5,
	capped: 2,
	cost_usd_before: '10.00',
	cost_usd_after: '11.000000001',
};

it.each([
	['rejected>0.1%', false],
	['rejected>=0.1%', true],
	['rejected=0.1%', true],
	['rejected > 0.09 %', true],
	['rejected<0.1%', false],
	['rejected<=3', true],
	['rejected>2', true],
	['rejected>3', false],
	['admitted=0', true],
	['requests<3001', true],
	['cost_usd_after>11', true],
	['cost_usd_after>$11.000000001', false],
	['cost_usd_after>110%', true],
	['cost_usd_after>111%', false],
	['cost_usd_before=10.00', true],
])('%s is %s', (text, isMet) => {
	expect(parseFailCondition(text).isMet(result)).toBe(isMet);
});

it('no request is no share', () => {
	expect(parseFailCondition('rejected>0%').isMet({ ...result, requests: 0, rejected: 0 })).toBe(false);
});

it.each([
	['', 'it must be FIELD'],
	['rejected', 'it must be FIELD'],
	['rejected!=3', 'it must be FIELD'],
	['rejected>-1', 'it must be FIELD'],
	['rejected>1e9', 'it must be FIELD'],
	['rejekted>1', 'unknown field rejekted: use one of same, rejected'],
	['rejected>1.5', 'is a whole number'],
	['rejected>$5', '$ is for'],
	['cost_usd_after>$5%', '$ is for'],
	['requests>5%', 'is what percentages refer to'],
	['constructor>5', 'unknown field constructor'],
])('%j is rejected with its mistake', (text, message) => {
	expect(() => parseFailCondition(text)).toThrow(message);
});
