import {
	countOf,
	groupTexts,
	isObject,
	type ModerationCategory,
	type ModerationFinding,
	type ModerationProtocol,
	objectsOf,
	textOf,
} from './moderation.ts';

export interface BedrockGuardrailSettings {
	readonly kind: 'bedrock-guardrail';
	readonly guardrailId: string;
	readonly guardrailVersion: string;
	/** A Bedrock API key; null if requests are signed. */
	readonly apiKey: string | null;
}

const categories: Readonly<Record<string, ModerationCategory>> = {
	HATE: 'hate',
	INSULTS: 'hate',
	SEXUAL: 'sexual',
	VIOLENCE: 'violence',
	MISCONDUCT: 'misconduct',
	PROMPT_ATTACK: 'prompt_attack',
};

/** Scores for a match that the guardrail only detects; a blocked one scores 1. */
const confidences: Readonly<Record<string, number>> = { NONE: 0, LOW: 0.4, MEDIUM: 0.6, HIGH: 0.9 };

/** Default quota of the service: 25 text units of a thousand characters. */
const maxCharacters = 25_000;
const maxTexts = 25;

/** `ApplyGuardrail` of Amazon Bedrock. */
export function bedrockGuardrail({ guardrailId, guardrailVersion, apiKey }: BedrockGuardrailSettings): ModerationProtocol {
	const target = `/guardrail/${encodeURIComponent(guardrailId)}/version/${encodeURIComponent(guardrailVersion)}/apply`;
	return {
		headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
		requestsFor: (texts, stage) =>
			groupTexts(texts, maxCharacters, maxTexts).map((group) => ({
				target,
				body: JSON.stringify({ source: stage === 'input' ? 'INPUT' : 'OUTPUT', content: group.map((text) => ({ text: { text } })) }),
			})),
		read(body) {
			if (!isObject(body) || (body['action'] !== 'NONE' && body['action'] !== 'GUARDRAIL_INTERVENED')) return undefined;
			const findings = objectsOf(body['assessments']).flatMap(readAssessment);
			if (body['action'] === 'GUARDRAIL_INTERVENED' && !findings.some(({ score }) => score === 1)) {
				findings.push({ category: 'other', label: 'GUARDRAIL_INTERVENED', score: 1 });
			}
			const usage = isObject(body['usage']) ? Object.values(body['usage']).reduce<number>((sum, units) => sum + countOf(units), 0) : 0;
			return { findings, usage: { inputTokens: 0, outputTokens: 0, units: usage } };
		},
	};
}

/** `match` contains the matched text and is never read. */
function readAssessment(assessment: Readonly<Record<string, unknown>>): ModerationFinding[] {
	const list = (policy: string, member: string): readonly Readonly<Record<string, unknown>>[] => {
		const part = assessment[policy];
		return isObject(part) ? objectsOf(part[member]) : [];
	};
	const all = (category: ModerationCategory, label: string, items: readonly Readonly<Record<string, unknown>>[]): ModerationFinding[] =>
		items.map((item) => ({ category, label: textOf(item[label]) || category, score: scoreOf(item) }));
	return [
		...list('contentPolicy', 'filters').map((filter) => {
			const label = textOf(filter['type']);
			return { category: categories[label] ?? 'other', label, score: scoreOf(filter) } as const;
		}),
		...all('topic', 'name', list('topicPolicy', 'topics')),
		...all('words', 'type', [...list('wordPolicy', 'customWords'), ...list('wordPolicy', 'managedWordLists')]),
		...all('pii', 'type', list('sensitiveInformationPolicy', 'piiEntities')),
		...all('pii', 'name', list('sensitiveInformationPolicy', 'regexes')),
		...all('other', 'type', list('contextualGroundingPolicy', 'filters')),
	];
}

function scoreOf({ action, confidence, detected }: Readonly<Record<string, unknown>>): number {
	if (action === 'BLOCKED' || action === 'ANONYMIZED') return 1;
	if (typeof confidence === 'string') return confidences[confidence] ?? 0;
	return detected === true ? (confidences['MEDIUM'] ?? 0) : 0;
}
