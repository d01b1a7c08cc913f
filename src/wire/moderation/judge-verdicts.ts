/** Parses the output of judge models, in the forms that they were trained for. */
import { isObject, type ModerationCategory, type ModerationFinding, moderationCategories, textOf } from './moderation.ts';

/** Llama Guard's hazards, MLCommons taxonomy. */
const hazards: Readonly<Record<string, ModerationCategory>> = {
	S1: 'violence',
	S2: 'misconduct',
	S3: 'sexual',
	S4: 'sexual',
	S5: 'misconduct',
	S6: 'misconduct',
	S7: 'misconduct',
	S8: 'misconduct',
	S9: 'violence',
	S10: 'hate',
	S11: 'violence',
	S12: 'sexual',
	S13: 'misconduct',
	S14: 'misconduct',
};

/** `safe`, or `unsafe` and a line of hazards such as `S1,S10`. */
export function readLlamaGuard(said: string, otherwise: ModerationCategory): ModerationFinding[] | undefined {
	if (/^\s*safe\s*$/i.test(said)) return [];
	const verdict = /^\s*unsafe\b([\s\S]*)$/i.exec(said);
	if (verdict === null) return undefined;
	const named = [...(verdict[1] ?? '').matchAll(/\bS\d{1,2}\b/gi)].map(([code]) => code.toUpperCase());
	if (named.length === 0) return [{ category: otherwise, label: 'unsafe', score: 1 }];
	return named.map((label) => ({ category: hazards[label] ?? otherwise, label, score: 1 }));
}

/** `Yes` or `No` for a violation of the one principle, with an optional explanation. */
export function readShieldGemma(said: string, otherwise: ModerationCategory): ModerationFinding[] | undefined {
	const verdict = /^\W{0,8}(yes|no)\b/i.exec(said)?.[1]?.toLowerCase();
	if (verdict === undefined) return undefined;
	return verdict === 'no' ? [] : [{ category: otherwise, label: 'Yes', score: 1 }];
}

/** `0`, `1`, or an object with `violation` and optional `category` and `confidence`. */
export function readSafeguard(said: string, otherwise: ModerationCategory): ModerationFinding[] | undefined {
	const bare = /^\s*([01])\s*$/.exec(said)?.[1];
	const verdict = bare === undefined ? parseObject(said) : { violation: Number(bare) };
	const violation = verdict?.['violation'];
	if (verdict === undefined || ![0, 1, true, false].includes(violation as number | boolean)) return undefined;
	if (violation === 0 || violation === false) return [];
	const label = (textOf(verdict['category']) || textOf(verdict['policy_category'])).slice(0, 64);
	const category = moderationCategories.find((name) => name === label.toLowerCase()) ?? otherwise;
	// A label is written by the model and could quote the text: only names pass.
	return [{ category, label: /^[\w.-]+$/.test(label) ? label : 'violation', score: confidenceOf(verdict['confidence']) }];
}

const confidences: Readonly<Record<string, number>> = { low: 0.5, medium: 0.8, high: 1 };

function confidenceOf(value: unknown): number {
	if (typeof value === 'number' && value >= 0 && value <= 1) return value;
	return confidences[textOf(value).toLowerCase()] ?? 1;
}

/** Parses the text as an object, or the part between its first and its last brace, because models often fence it. */
function parseObject(said: string): Readonly<Record<string, unknown>> | undefined {
	try {
		const parsed: unknown = JSON.parse(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1));
		return isObject(parsed) ? parsed : undefined;
	} catch {
		return undefined;
	}
}
