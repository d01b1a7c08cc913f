/** Measures the rules on attacks that no rule was derived from, and on harmless requests. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { attackFamilies } from '../../../../test/support/firewall/attack-grammar.ts';
import { makeVariants } from '../../../../test/support/firewall/attack-variants.ts';
import { makeHarmlessRequests } from '../../../../test/support/firewall/harmless-requests.ts';
import {
	makeMeasuredRules,
	measureHarmless,
	measureVariants,
	templateSets,
	variantsSeed,
} from '../../../../test/support/firewall/measure-variants.ts';
import { renderHarmlessTable, renderVariantTable } from '../../../../test/support/security-measurements-page.ts';
import { readHeaderValue, readQuery } from './canonical-text.ts';
import { rules } from './rule-catalogue.ts';

const minShare = 93;
const maxFalseShare = 1;

const ruleSet = makeMeasuredRules();
const figures = measureVariants(ruleSet);
const harmless = measureHarmless(ruleSet);

describe(`generated attacks, seed ${variantsSeed}`, () => {
	test.each(figures.map((figure) => [figure.family, figure.set, figure] as const))('%s, %s', (_family, _set, { made, caught, missed }) => {
		const share = (100 * caught) / made;
		const examples = missed.slice(0, 5).map(({ position, payload }) => `${position}: ${payload}`);
		expect(share, `missed:\n${examples.join('\n')}`).toBeGreaterThanOrEqual(minShare);
	});
});

describe(`generated harmless requests, seed ${variantsSeed}`, () => {
	test.each(harmless.map((figure) => [figure.set, figure] as const))('%s', (_set, { sent, blocked }) => {
		expect(sent).toBeGreaterThanOrEqual(3000);
		const alarms = blocked
			.slice(0, 10)
			.map(({ request, rules: names }) => `${request.kind}: ${names.join()} ${JSON.stringify(request.head)}`);
		expect((100 * blocked.length) / sent, `blocked:\n${alarms.join('\n')}`).toBeLessThanOrEqual(maxFalseShare);
	});
});

test('no pattern is left out for a sign that a text lacks, although it would match', () => {
	const texts = templateSets.flatMap((set) => [
		...attackFamilies.flatMap((family) => makeVariants(family, set, 40, variantsSeed)).map(({ head }) => head),
		...makeHarmlessRequests(set, 10, variantsSeed).map(({ head }) => head),
	]);
	const readings = texts.flatMap(({ query, headers }) => [
		...readQuery(query),
		...readHeaderValue(String(headers['referer'] ?? headers['x-custom'] ?? '')),
	]);
	const signatures = new Set(rules.flatMap((rule) => rule.signatures));
	const lost = readings.flatMap((reading) =>
		Array.from(signatures).filter(
			({ form, pattern, needs, needsAny }) =>
				((needs & ~reading.signs) !== 0 || (needsAny !== 0 && (needsAny & reading.signs) === 0)) && pattern.test(reading[form]),
		),
	);
	expect(lost.map(({ form, pattern }) => `${form} ${pattern.source}`)).toEqual([]);
});

test('the page of measurements says the same', () => {
	const page = readFileSync(new URL('../../../../docs/reference/security-measurements.md', import.meta.url), 'utf8');
	expect(page, 'as `node scripts/security-measurements.ts` writes it').toContain(renderVariantTable(figures));
	expect(page, 'as `node scripts/security-measurements.ts` writes it').toContain(renderHarmlessTable(harmless));
});
