/** Detects keys of cloud and API vendors, by the prefixes that vendors defined, or by the label before them. */

import type { Span } from './email.ts';
import type { PiiKind } from './pii-kind.ts';
import { isNameCode } from './signs.ts';

interface Key {
	readonly kind: PiiKind;
	readonly start: number;
	readonly end: number;
}

interface Shape {
	readonly prefix: string;
	readonly kind: PiiKind;
	/** Format of the key after the prefix. */
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
	[['whsec_', 'sbp_', 'sqp_', 'squ_', 'sqa_', 'pul-', 'sgp_', 'e2b_', 'bkua_'], /[A-Za-z0-9]{32,100}(?![A-Za-z0-9])/y],
	[['gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'glagent-', 'glimt-', 'glffct-', 'gloas-'], /[\w-]{20,100}/y],
	[['xoxe.'], /xox[bp]-[\w-]{20,300}/y],
	[['key-'], /[0-9a-f]{32}(?![\w-])/y],
	[['EAA'], /[A-Za-z0-9]{80,400}(?![\w-])/y],
	[['EAAA'], /[\w-]{56,64}(?![\w-])/y],
	[['sq0atp-'], /[\w-]{22}(?![\w-])/y],
	[['sq0csp-', 'CFPAT-'], /[\w-]{43}(?![\w-])/y],
	[['PMAK-'], /[0-9a-f]{24}-[0-9a-f]{34}(?![\w-])/y],
	[['ATATT3', 'ATCTT3'], /[\w-]{100,240}(?:=[0-9A-F]{8})?/y],
	[['dp.'], /(?:pt|st|ct|scim|audit)\.[A-Za-z0-9]{40,44}(?![A-Za-z0-9])/y],
	[['pscale_'], /(?:tkn|pw|oauth)_[\w-]{32,64}/y],
	[['re_'], /[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])/y],
	[['xkeysib-'], /[0-9a-f]{64}-[A-Za-z0-9]{16}(?![A-Za-z0-9])/y],
	[['pcsk_'], /[A-Za-z0-9]{4,10}_[A-Za-z0-9]{48,80}/y],
	[['csk-'], /[a-z0-9]{40,64}(?![A-Za-z0-9])/y],
	[['dt0c01.'], /[A-Z2-7]{24}\.[A-Z2-7]{64}(?![A-Za-z0-9])/y],
	[['pat-'], /[a-z]{2}\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])/y],
	[['sk.', 'tk.'], /eyJ[\w-]{20,200}\.[\w-]{16,64}/y],
	[['tskey-'], /(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,32}-[A-Za-z0-9]{16,64}/y],
	[['dapi'], /[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])/y],
	[['cio'], /[A-Za-z0-9]{32}(?![A-Za-z0-9])/y],
	[['LTAI'], /[A-Za-z0-9]{16,26}(?![A-Za-z0-9])/y],
	[['SK'], /[0-9a-f]{32}(?![\w-])/y],
	[['NRAK-', 'NRAL-', 'NRII-', 'NRJS-', 'NRRA-'], /[A-Za-z0-9]{19,40}(?![\w-])/y],
	[['ATBB', 'ATTA'], /[A-Za-z0-9]{32,80}(?![\w-])/y],
	[['fo1_', 'fm1r_', 'fm2_'], /[\w+/-]{32,300}={0,2}/y],
	[['nfp_', 'nfc_', 'nfo_', 'nfb_', 'nfu_', 'pnu_', 'pnb_', 'phx_', 'apify_api_', 'zpka_'], /[A-Za-z0-9]{32,64}(?![A-Za-z0-9])/y],
	[['tfp_', 'tgp_v1_', 'wandb_v1_', 'sm_aat_'], /[\w-]{32,100}/y],
	[['lsv2_pt_', 'lsv2_sk_'], /[0-9a-f]{32}_[0-9a-f]{10}(?![\w-])/y],
	[['fw_', 'rpa_', 'aio_'], /[A-Za-z0-9]{22,48}(?![\w-])/y],
	[['jina_'], /[0-9a-f]{32}[\w-]{20,40}/y],
	[['fc-'], /[0-9a-f]{32}(?![\w-])/y],
	[['pa-', 'al-'], /[\w-]{43}(?![\w-])/y],
	[['EZAK', 'EZTK'], /[A-Za-z0-9]{54}(?![\w-])/y],
	[['fio-u-'], /[\w-]{64}(?![\w-])/y],
	[['AKCp'], /[A-Za-z0-9]{60,72}(?![\w-])/y],
	[['access-'], /(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])/y],
	[['rdme_', 'napi_'], /[a-z0-9]{60,80}(?![A-Za-z0-9])/y],
	[['shippo_', 'duffel_'], /(?:live|test)_[\w-]{40,50}(?![\w-])/y],
	[['CCIPAT_', 'CCIPRJ_'], /[A-Za-z0-9]{20,24}_[0-9a-f]{40}(?![\w-])/y],
	[['oy2'], /[a-z0-9]{43}(?![\w-])/y],
	[['CLOJARS_'], /[0-9a-f]{60}(?![\w-])/y],
	[['FLWSECK-', 'FLWSECK_TEST-'], /[0-9a-f]{12,40}(?:-X)?(?![\w-])/y],
	[['mdb_sa_sk_', 'sntryu_', 'glc_', 'esecret_'], /[\w-]{32,200}/y],
	[['ops_eyJ'], /[\w-]{100,400}/y],
	[['ABSK'], /[A-Za-z0-9+/]{80,300}={0,2}/y],
	[['AQVN'], /[\w-]{35,38}(?![\w-])/y],
	[['ico-'], /[A-Za-z0-9]{32}(?![\w-])/y],
	[['hooks.'], /slack\.com\/services\/T[A-Z0-9]{8,12}\/B[A-Z0-9]{8,12}\/[A-Za-z0-9]{20,30}/y],
	[['AGE-SECRET-KEY-1'], /[A-Z0-9]{58}(?![A-Za-z0-9])/y],
];

const shapes: readonly Shape[] = [
	...aws,
	...others.flatMap(([prefixes, shape]) => prefixes.map((prefix) => ({ prefix, kind: 'api_key' as const, shape }))),
];

/** Returns the prefix up to its first character that is rare in prose. */
function headOf(prefix: string): string {
	return /^-*[a-z0-9]*[^a-z0-9]/.exec(prefix)?.[0] ?? prefix;
}

const byHead = Map.groupBy(shapes, ({ prefix }) => headOf(prefix));
const headsByRare = Map.groupBy(byHead.keys(), (head) => head.slice(-1));

interface Middle {
	/** Character of a key, and its context. */
	readonly sign: string;
	/** Text before that character. */
	readonly before: RegExp;
	/** Text from that character on. */
	readonly after: RegExp;
}

/** Keys with a random beginning and a fixed format in the middle. */
const middles: readonly Middle[] = [
	{ sign: '-(?=us\\d)(?<=[0-9a-f]{32}-)', before: /(?<!\w)[0-9a-f]{32}$/, after: /-us\d{1,2}(?!\w)/y },
	{ sign: '\\.(?=[0-9a-f]{64})(?<=pat\\w{14}\\.)', before: /(?<!\w)pat\w{14}$/, after: /\.[0-9a-f]{64}(?!\w)/y },
	{
		sign: '\\.(?=[\\w-]{6}\\.[\\w-]{27})(?<=[MNO][\\w-]{23,27}\\.)',
		before: /(?<![\w-])[MNO][\w-]{23,27}$/,
		after: /\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/y,
	},
	{ sign: '\\.(?=atlasv1\\.)(?<=[A-Za-z0-9]{14}\\.)', before: /(?<!\w)[A-Za-z0-9]{14}$/, after: /\.atlasv1\.[\w-]{60,100}/y },
	{ sign: 'A(?=A[\\w-]{33})(?<=\\d{8,10}:A)', before: /(?<!\w)\d{8,10}:$/, after: /AA[\w-]{33}(?![\w-])/y },
	{
		sign: '/(?=\\d{13,16}:[0-9a-f]{32})',
		before: /(?<![\w/])[12](?:\/\d{13,16})?$/,
		after: /\/\d{13,16}:[0-9a-f]{32}(?!\w)/y,
	},
];
const maxBefore = 40;

/** Unlisted prefixes that contain `pat`, `key`, `secret` or `live`. */
const selfNames = '(?<![A-Za-z0-9])(?:pat|key|apikey|tok|token|tkn|secret|sk|rk|live|prod|auth|[A-Z]{0,6}(?:PAT|KEY|TOKEN|SECRET))';
const selfNamed = `[_-](?=[A-Za-z0-9][\\w-]{23})(?<=${selfNames}[_-])`;
const selfNamedBefore = new RegExp(`(?<![\\w-])(?:[A-Za-z][\\w-]{0,17}[_-])?${selfNames}$`);
const selfNamedAfter = /[A-Za-z0-9][\w-]{23,200}/y;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Expression for every position of a prefix's rare character, after its head at the start of a word. */
export const keySign = [
	...[...headsByRare].map(([rare, heads]) => rareSign(rare, heads)),
	...middles.map(({ sign }) => sign),
	selfNamed,
].join('|');

function rareSign(rare: string, heads: readonly string[]): string {
	const befores = heads.map((head) => head.slice(0, -1));
	const rests = heads.flatMap((head) => (byHead.get(head) ?? []).map(({ prefix }) => prefix.slice(head.length).replace('.', '\\.')));
	const wordStart = heads.every(beginsWord) ? '\\b' : '';
	return `${rare}(?<=${wordStart}(?:${befores.join('|')})${rare})(?=${[...new Set(rests)].join('|')})`;
}

function beginsWord(head: string): boolean {
	return isNameCode(head.charCodeAt(0));
}

/**
 * @param where - position of a `keySign`.
 * @returns the key that it belongs to.
 */
export function keyAround(text: string, where: number): Key | undefined {
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
	return keyAroundMiddle(text, where) ?? selfNamedKey(text, where);
}

function keyAroundMiddle(text: string, where: number): Key | undefined {
	const earlier = text.slice(Math.max(0, where - maxBefore), where);
	for (const { before, after } of middles) {
		after.lastIndex = where;
		const begun = after.test(text) ? before.exec(earlier) : null;
		if (begun !== null) return { kind: 'api_key', start: where - begun[0].length, end: after.lastIndex };
	}
	return undefined;
}

function selfNamedKey(text: string, where: number): Key | undefined {
	if (!/[_-]/.test(text.charAt(where))) return undefined;
	const name = selfNamedBefore.exec(text.slice(Math.max(0, where - maxBefore), where))?.[0];
	selfNamedAfter.lastIndex = where + 1;
	const rest = name === undefined ? undefined : selfNamedAfter.exec(text)?.[0];
	if (name === undefined || rest === undefined || !isRandomText(rest) || uuid.test(rest)) return undefined;
	return { kind: 'api_key', start: where - name.length, end: selfNamedAfter.lastIndex };
}

/** Rejects names in code: `sk-learn-compatible-estimators`, `hf_modelConfigurationFromHubRepository`. Some vendors' keys have no digits. */
function isRandom(rest: string, prefix: string): boolean {
	if (isFiller(rest)) return false;
	if (prefix.startsWith('-') || prefix === 'eyJ' || prefix.startsWith('A') || /\d/.test(rest)) return true;
	return (rest.match(neighboursOfOtherCase)?.length ?? 0) * minChangeOfCase >= rest.length;
}

/** A capital before a small letter begins a word; few words are that short. */
const neighboursOfOtherCase = /[a-z](?=[A-Z])/g;
const minChangeOfCase = 6;

/** Label of an AWS secret access key, which has no prefix of its own. */
const awsSecret =
	/secret[ _-]?(?:access[ _-]?)?key[^A-Za-z0-9/+]{0,16}(?:(?:is|was)[^A-Za-z0-9/+]{1,4})?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi;
const awsSecretLength = 40;

/** @returns the ranges of AWS secret access keys. */
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

const digitBesideLetter = /\d(?=[A-Za-z])|[A-Za-z](?=\d)/g;
const capitalBehindSmall = /[a-z](?=[A-Z])/g;
/** Minimum changes between digits and letters. Names have digits at their ends, if any; random characters have them everywhere. */
const minDigitChanges = 3;
/** Minimum share of changes from digit to letter, or from a small letter to a capital. Random characters have two to four in ten. */
const minShareOfChanges = 0.15;
/** Matches hexadecimal text, because no word has so many letters from a to f. */
const longHex = /^(?=.*\d)(?=.*[a-f])[\da-f]{32,}$/;
/** Identifiers and timestamps. */
const endingUuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const time = /^\d{4}-\d\d-\d\d/;
/** Placeholder of a key in documentation: `xxxxxxxx`, `00000000`, `********`. */
const filler = /(.)\1{5}/;

/**
 * Tells whether the characters are random: not names, words or numbers that people chose.
 * @param text letters, digits and few signs between them.
 */
function isRandomText(text: string): boolean {
	if (isFiller(text) || time.test(text)) return false;
	const digitChanges = text.match(digitBesideLetter)?.length ?? 0;
	const changes = digitChanges + (text.match(capitalBehindSmall)?.length ?? 0);
	return (digitChanges >= minDigitChanges && changes >= text.length * minShareOfChanges) || longHex.test(text) || endingUuid.test(text);
}

function isFiller(text: string): boolean {
	return filler.test(text);
}

/** Maximum length of a label before its last word. */
const maxLabelBefore = 24;
const maxKeyLength = 300;

/**
 * Matches the last word of a label, the text between it and a key, and the key's first character. Most texts with the word have no such
 * character near it.
 */
const labelled = new RegExp(
	'(?:key|token|secret|bearer|password|api-schlüssel|clé api|clave api|clave de api)(?:[ _-]?id)?[^A-Za-z0-9]{1,8}(?:(?:is|was|of|ist|war|lautet|est|es|é|è|bearer|token|basic)[^A-Za-z0-9]{1,8}){0,2}' +
		'(?=[A-Za-z0-9][\\w+/.:~-]{15})',
	'gi',
);
const keyBody = new RegExp(`[A-Za-z0-9][\\w+/.:=~-]{15,${maxKeyLength - 1}}`, 'y');
const minLength = 20;

/** Complete labels, because "key" and "password" alone are common in other contexts: caches, tables, people. */
const saysKey =
	/(?:(?:api|access|secret|admin|auth|account|app|private|service|licen[cs]e|signing|encryption|client|subscription|master|integration|server|root|org|team|ingest|write|bot|deploy|webhook|project|personal|io|s)[ _-]?(?:key|password)|[A-Z][A-Z0-9]*_KEY|token|secret|bearer|api-schlüssel|clé api|clave(?: de)? api)$/i;
/** Labels of values that are not secret. */
const saysOther =
	/(?:public|sort|primary|cache|partition|foreign|idempotency|object|row|s3|page|next|continuation|sync|resume|csrf|xsrf|pad|trace)[ _-]?(?:\w{1,8}[ _-])?(?:key|token)$/i;
const digest = /^(?:sha\d|md5|https?:|file:|urn:)/i;
const trailingSigns = /[.:~/+]+$/;
const leadingSign = /[\w+/-]/;

/** Finds keys without a known prefix by the label before them. */
export function labelledKeysIn(text: string): readonly Span[] {
	const found: Span[] = [];
	labelled.lastIndex = 0;
	for (let label = labelled.exec(text); label !== null; label = labelled.exec(text)) {
		const span = keyAfter(text, label.index, labelled.lastIndex);
		if (span === undefined) continue;
		found.push(span);
		labelled.lastIndex = span.end;
	}
	return found;
}

function keyAfter(text: string, labelAt: number, bodyAt: number): Span | undefined {
	keyBody.lastIndex = bodyAt;
	const body = keyBody.exec(text)?.[0].replace(trailingSigns, '') ?? '';
	if (body.length < minLength || digest.test(body) || !isRandomText(body)) return undefined;
	const word = /^(?:api-schlüssel|cl(?:é|ave)(?: de)? api|[a-z]+(?:[ _-]?id(?![a-z]))?)/i.exec(text.slice(labelAt, bodyAt))?.[0] ?? '';
	const label = text.slice(Math.max(0, labelAt - maxLabelBefore), labelAt) + word.replace(/[ _-]?id$/i, '');
	if (!saysKey.test(label) || saysOther.test(label)) return undefined;
	let start = bodyAt;
	while (bodyAt - start < 4 && leadingSign.test(text.charAt(start - 1))) start--;
	return { start, end: bodyAt + body.length };
}
