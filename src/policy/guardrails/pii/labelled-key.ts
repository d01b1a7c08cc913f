/** Keys without a known beginning, found by the label before them. */
import type { Span } from './email.ts';
import { isRandomText } from './random-text.ts';

/** How far back a label begins before its last word. */
const maxLabelBefore = 24;
const longestKey = 300;

/**
 * The last word of a label, what may stand between it and a key, and of the key its first character. Most texts with the word have no
 * such character near it.
 */
const labelled = new RegExp(
	'(?:key|token|secret|bearer|password|api-schlüssel|clé api|clave api|clave de api)(?:[ _-]?id)?[^A-Za-z0-9]{1,8}(?:(?:is|was|of|ist|war|lautet|est|es|é|è|bearer|token|basic)[^A-Za-z0-9]{1,8}){0,2}' +
		'(?=[A-Za-z0-9][\\w+/.:~-]{15})',
	'gi',
);
const keyBody = new RegExp(`[A-Za-z0-9][\\w+/.:=~-]{15,${longestKey - 1}}`, 'y');
const leastLength = 20;

/** "key" and "password" alone are said of much else: caches, tables, people. */
const saysKey =
	/(?:(?:api|access|secret|admin|auth|account|app|private|service|licen[cs]e|signing|encryption|client|subscription|master|integration|server|root|org|team|ingest|write|bot|deploy|webhook|project|personal|io|s)[ _-]?(?:key|password)|[A-Z][A-Z0-9]*_KEY|token|secret|bearer|api-schlüssel|clé api|clave(?: de)? api)$/i;
/** Names of what is no secret. */
const saysOther =
	/(?:public|sort|primary|cache|partition|foreign|idempotency|object|row|s3|page|next|continuation|sync|resume|csrf|xsrf|pad|trace)[ _-]?(?:\w{1,8}[ _-])?(?:key|token)$/i;
const digest = /^(?:sha\d|md5|https?:|file:|urn:)/i;
const trailingSigns = /[.:~/+]+$/;
const leadingSign = /[\w+/-]/;

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
	if (body.length < leastLength || digest.test(body) || !isRandomText(body)) return undefined;
	const word = /^(?:api-schlüssel|cl(?:é|ave)(?: de)? api|[a-z]+(?:[ _-]?id(?![a-z]))?)/i.exec(text.slice(labelAt, bodyAt))?.[0] ?? '';
	const label = text.slice(Math.max(0, labelAt - maxLabelBefore), labelAt) + word.replace(/[ _-]?id$/i, '');
	if (!saysKey.test(label) || saysOther.test(label)) return undefined;
	let start = bodyAt;
	while (bodyAt - start < 4 && leadingSign.test(text.charAt(start - 1))) start--;
	return { start, end: bodyAt + body.length };
}
