/** Measures the rules on requests by an author who had not read them. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeMeasuredRules } from '../../../../test/support/firewall/measure-variants.ts';
import {
	measureSecondReader,
	measureSecondReaderAttacks,
	readDevelopedArguments,
} from '../../../../test/support/firewall/second-reader.ts';
import { renderSecondReaderAttacks, renderSecondReaderTable } from '../../../../test/support/security-measurements-page.ts';

const minShare = 93;
const maxFalseShare = 1;

const ruleSet = makeMeasuredRules();
const harmless = measureSecondReader(ruleSet);
const attacks = measureSecondReaderAttacks(ruleSet);

describe('harmless requests and code-like arguments', () => {
	test.each(harmless.map((figure) => [figure.name, figure.set, figure] as const))('%s, %s', (_name, set, { sent, blocked }) => {
		expect(sent).toBeGreaterThan(140);
		// The held-out set is never printed, also when this test fails.
		const visible = set === 'developed' ? blocked.join('\n') : '';
		expect((100 * blocked.length) / sent, `blocked:\n${visible}`).toBeLessThanOrEqual(maxFalseShare);
	});

	test('arguments from which the rules were written', () => {
		const values = readDevelopedArguments().filter(({ isAmbiguous }) => isAmbiguous !== true);
		const blocked = values.filter(({ head }) => ruleSet.checkHead(head).some(({ action }) => action === 'block'));
		expect(values.length).toBeGreaterThan(880);
		expect((100 * blocked.length) / values.length, `blocked:\n${blocked.map(({ line }) => line).join('\n')}`).toBeLessThanOrEqual(1.5);
	});
});

describe('attacks', () => {
	test.each(attacks.map((figure) => [figure.family, figure.set, figure] as const))('%s, %s', (_family, set, { sent, missed }) => {
		expect(sent).toBeGreaterThan(4);
		expect((100 * (sent - missed.length)) / sent, `missed:\n${set === 'developed' ? missed.join('\n') : ''}`).toBeGreaterThanOrEqual(
			minShare,
		);
	});
});

test('the page of measurements says the same', () => {
	const page = readFileSync(new URL('../../../../docs/reference/security-measurements.md', import.meta.url), 'utf8');
	expect(page, 'as `node scripts/security-measurements.ts` writes it').toContain(renderSecondReaderTable(harmless));
	expect(page, 'as `node scripts/security-measurements.ts` writes it').toContain(renderSecondReaderAttacks(attacks));
});
