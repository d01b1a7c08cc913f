import {
	countOf,
	groupTexts,
	isObject,
	type ModerationCategory,
	type ModerationFinding,
	type ModerationProtocol,
	objectsOf,
} from './moderation.ts';

export interface OpenaiModerationSettings {
	readonly kind: 'openai-moderation';
	readonly apiKey: string | null;
	readonly model: string | null;
}

/** By prefix of OpenAI's name. A threat counts as violence, whatever its target. */
const categories: readonly (readonly [beginning: string, category: ModerationCategory])[] = [
	['hate/threatening', 'violence'],
	['harassment/threatening', 'violence'],
	['hate', 'hate'],
	['harassment', 'hate'],
	['self-harm', 'violence'],
	['sexual', 'sexual'],
	['violence', 'violence'],
	['illicit', 'misconduct'],
];

const maxCharacters = 100_000;
const maxTexts = 32;

/** `POST /moderations`; the URL ends with `/v1` if the vendor's does. */
export function openaiModeration({ apiKey, model }: OpenaiModerationSettings): ModerationProtocol {
	return {
		headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
		requestsFor: (texts) =>
			groupTexts(texts, maxCharacters, maxTexts).map((input) => ({
				target: '/moderations',
				body: JSON.stringify({ model: model ?? 'omni-moderation-latest', input }),
			})),
		read(body) {
			if (!isObject(body)) return undefined;
			const results = objectsOf(body['results']);
			if (results.length === 0) return undefined;
			const findings: ModerationFinding[] = [];
			for (const { category_scores: scores } of results) {
				if (!isObject(scores)) return undefined;
				for (const [label, score] of Object.entries(scores)) {
					if (typeof score !== 'number' || !(score >= 0 && score <= 1)) return undefined;
					findings.push({ category: categoryOf(label), label, score });
				}
			}
			return { findings, usage: { inputTokens: 0, outputTokens: 0, units: countOf(results.length) } };
		},
	};
}

function categoryOf(label: string): ModerationCategory {
	return categories.find(([beginning]) => label.startsWith(beginning))?.[1] ?? 'other';
}
