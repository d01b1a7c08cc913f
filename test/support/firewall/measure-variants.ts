/**
 * Results of the rules on generated requests: attacks by family, harmless ones by class, with separate results for the set from which rules
 * were developed.
 */
import { type RuleAction, ruleNames } from '../../../src/policy/firewall/rules/rule-catalogue.ts';
import { RuleSet } from '../../../src/policy/firewall/rules/rule-set.ts';
import { crsCases } from '../crs-suite.ts';
import { attackFamilies } from './attack-grammar.ts';
import { type AttackVariant, makeVariants, type TemplateSet } from './attack-variants.ts';
import { type HarmlessRequest, harmlessKinds, makeHarmlessRequests } from './harmless-requests.ts';

export const variantsSeed = 20_261_125;
export const variantsEach = 400;
export const harmlessEach = 300;

export const templateSets: readonly TemplateSet[] = ['developed', 'heldOut'];

export interface VariantMeasurement {
	readonly family: string;
	readonly set: TemplateSet;
	readonly templates: number;
	readonly made: number;
	readonly caught: number;
	readonly missed: readonly AttackVariant[];
}

export interface HarmlessMeasurement {
	readonly set: TemplateSet;
	readonly kinds: number;
	readonly sent: number;
	readonly blocked: readonly { readonly request: HarmlessRequest; readonly rules: readonly string[] }[];
}

/** Default rules, plus the rules for bodies, which only count. */
export function makeMeasuredRules(): RuleSet {
	const forBodies = ruleNames.filter((name) => name.endsWith('_BODY') && !name.startsWith('SizeRestrictions'));
	return new RuleSet(Object.fromEntries(forBodies.map((name): [string, RuleAction] => [name, 'monitor'])));
}

export function measureVariants(rules: RuleSet): VariantMeasurement[] {
	return attackFamilies.flatMap((family) =>
		templateSets.map((set) => {
			const variants = makeVariants(family, set, variantsEach, variantsSeed);
			const missed = variants.filter(({ head, body }) => {
				const matches = body === undefined ? rules.checkHead(head) : rules.checkBody(body, false);
				// Ignores size limits: a request caught only for its length says nothing about the rules.
				return matches.every(({ rule }) => rule.startsWith('SizeRestrictions'));
			});
			return {
				family: family.name,
				set,
				templates: family[set].length,
				made: variants.length,
				caught: variants.length - missed.length,
				missed,
			};
		}),
	);
}

export function measureHarmless(rules: RuleSet): HarmlessMeasurement[] {
	return templateSets.map((set) => {
		const requests = makeHarmlessRequests(set, harmlessEach, variantsSeed);
		const blocked = requests.flatMap((request) => {
			const matches = rules.checkHead(request.head).filter(({ action }) => action === 'block');
			return matches.length === 0 ? [] : [{ request, rules: matches.map(({ rule }) => rule) }];
		});
		return { set, kinds: harmlessKinds(set).length, sent: requests.length, blocked };
	});
}

export interface BodyMeasurement {
	readonly attacks: number;
	readonly caught: number;
	readonly harmless: number;
	readonly blocked: number;
}

/** Sends the texts of the core rule set's cases with bodies (level 1, except uploads) in a query, because rules for bodies only count. */
export function measureBodiesAsArguments(rules: RuleSet): BodyMeasurement {
	let [attacks, caught, harmless, blocked] = [0, 0, 0, 0];
	for (const { pl, place, data, expect, crs_pl1: atLevel1, headers = [] } of crsCases) {
		const contentType = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
		if (pl !== 1 || place !== 'body' || data === undefined || contentType.includes('multipart')) continue;
		if (expect === 'pass' && atLevel1 !== 'pass') continue;
		const query = contentType.includes('urlencoded') ? data.replace(/[^!-~]/g, encodeURIComponent) : `v=${encodeURIComponent(data)}`;
		const isBlocked = rules
			.checkHead({ ...plainGet, query })
			.some(({ rule, action }) => action === 'block' && !rule.startsWith('SizeRestrictions'));
		if (expect === 'block') {
			attacks++;
			if (isBlocked) caught++;
		} else {
			harmless++;
			if (isBlocked) blocked++;
		}
	}
	return { attacks, caught, harmless, blocked };
}

const plainGet = { method: 'GET', path: '/get', headers: { 'user-agent': 'curl/8.14.1' } };
