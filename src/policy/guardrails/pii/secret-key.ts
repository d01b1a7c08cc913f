/** Keys of cloud and API vendors, by the beginnings that vendors gave them. */
import type { PiiKind } from './pii-kind.ts';
import { isNameCode } from './signs.ts';

interface Shape {
	readonly prefix: string;
	readonly kind: PiiKind;
	/** Of what follows the prefix. */
	readonly shape: RegExp;
}

const aws: readonly Shape[] = ['AKIA', 'ASIA', 'ABIA', 'ACCA'].map((prefix) => ({
	prefix,
	kind: 'aws_key',
	shape: /[A-Z2-7]{16}(?![A-Za-z0-9])/y,
}));

const others: readonly (readonly [prefixes: readonly string[], shape: RegExp])[] = [
	[['sk-ant-'], /[\w-]{20,200}/y],
	[['sk-', 'rk-'], /(?:proj-|svcacct-|admin-|or-v1-)?[\w-]{20,200}/y],
	[['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'pk_live_'], /[A-Za-z0-9]{16,200}/y],
	[['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], /[A-Za-z0-9]{36,200}/y],
	[['github_pat_'], /\w{22,200}/y],
	[['glpat-'], /[\w-]{20,100}/y],
	[['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-'], /[A-Za-z0-9-]{10,200}/y],
	[['AIza'], /[\w-]{35}(?![\w-])/y],
	[['hf_'], /[A-Za-z0-9]{30,100}/y],
	[['npm_'], /[A-Za-z0-9]{36}(?![A-Za-z0-9])/y],
	[['pypi-'], /[\w-]{50,200}/y],
	[['SG.'], /[\w-]{16,32}\.[\w-]{16,64}/y],
	[['eyJ'], /[\w-]{10,200}\.eyJ[\w-]{10,200}/y],
	[['-----BEGIN '], /(?:[A-Z]{1,12} ){0,2}PRIVATE KEY-----/y],
	[['gsk_', 'r8_'], /[A-Za-z0-9]{30,100}/y],
	[['xai-', 'pplx-', 'nvapi-', 'tvly-'], /[\w-]{24,200}/y],
	[['xapp-'], /[A-Za-z0-9-]{20,200}/y],
	[['dop_v1_', 'doo_v1_', 'dor_v1_', 'shpat_', 'shpca_', 'shppa_', 'shpss_'], /[0-9a-f]{32,64}(?![A-Za-z0-9])/y],
	[['dckr_pat_', 'dckr_oat_', 'figd_'], /[\w-]{24,200}/y],
	[['glsa_', 'lin_api_', 'ntn_', 'sntrys_', 'rubygems_'], /[A-Za-z0-9]{24,200}/y],
	[['GOCSPX-'], /[\w-]{28}(?![\w-])/y],
	[['ya29.'], /[\w-]{40,500}/y],
	[['hvs.', 'hvb.'], /[\w-]{24,300}/y],
];

const shapes: readonly Shape[] = [
	...aws,
	...others.flatMap(([prefixes, shape]) => prefixes.map((prefix) => ({ prefix, kind: 'api_key' as const, shape }))),
];

/** Up to its first character that is rare in prose. */
function headOf(prefix: string): string {
	return /^-*[a-z0-9]*[^a-z0-9]/.exec(prefix)?.[0] ?? prefix;
}

const byHead = Map.groupBy(shapes, ({ prefix }) => headOf(prefix));
const headsByRare = Map.groupBy(byHead.keys(), (head) => head.slice(-1));

/** An expression for every place where the rare character of a beginning stands, after what begins it, where no word goes on. */
export const keySign = [...headsByRare].map(([rare, heads]) => rareSign(rare, heads)).join('|');

function rareSign(rare: string, heads: readonly string[]): string {
	const befores = heads.map((head) => head.slice(0, -1));
	const rests = heads.flatMap((head) => (byHead.get(head) ?? []).map(({ prefix }) => prefix.slice(head.length).replace('.', '\\.')));
	const wordStart = heads.every(beginsWord) ? '\\b' : '';
	return `${rare}(?<=${wordStart}(?:${befores.join('|')})${rare})(?=${[...new Set(rests)].join('|')})`;
}

function beginsWord(head: string): boolean {
	return isNameCode(head.charCodeAt(0));
}

/** @param where a `keySign` stands. @returns the key that it is of. */
export function keyAround(text: string, where: number): { kind: PiiKind; start: number; end: number } | undefined {
	for (const head of headsByRare.get(text.charAt(where)) ?? []) {
		const start = where + 1 - head.length;
		if (!text.startsWith(head, start) || (beginsWord(head) && isNameCode(text.charCodeAt(start - 1)))) continue;
		for (const { prefix, kind, shape } of byHead.get(head) ?? []) {
			if (!text.startsWith(prefix, start)) continue;
			shape.lastIndex = start + prefix.length;
			if (!shape.test(text)) continue;
			const end = shape.lastIndex;
			if (isRandom(text.slice(start + prefix.length, end), prefix)) return { kind, start, end };
		}
	}
	return undefined;
}

/** Names in code are no keys: `sk-learn-compatible-estimators`, `hf_modelConfigurationFromHubRepository`. Some vendors' keys have no digits. */
function isRandom(rest: string, prefix: string): boolean {
	if (prefix.startsWith('-') || prefix === 'eyJ' || prefix.startsWith('A') || /\d/.test(rest)) return true;
	return (rest.match(neighboursOfOtherCase)?.length ?? 0) * leastChangeOfCase >= rest.length;
}

/** A capital before a small letter begins a word; few words are shorter than that. */
const neighboursOfOtherCase = /[a-z](?=[A-Z])/g;
const leastChangeOfCase = 6;

/** AWS secret access keys begin in no way of their own, and are known by what is written before them. */
const awsSecret =
	/secret[ _-]?(?:access[ _-]?)?key[^A-Za-z0-9/+]{0,16}(?:(?:is|was)[^A-Za-z0-9/+]{1,4})?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi;
const awsSecretLength = 40;

/** @returns where AWS secret access keys stand. */
export function awsSecretsIn(text: string): readonly { readonly start: number; readonly end: number }[] {
	const found: { start: number; end: number }[] = [];
	awsSecret.lastIndex = 0;
	while (awsSecret.test(text)) {
		const end = awsSecret.lastIndex;
		const key = text.slice(end - awsSecretLength, end);
		if (/\d/.test(key) && /[A-Z]/.test(key) && /[a-z]/.test(key)) found.push({ start: end - awsSecretLength, end });
	}
	return found;
}
