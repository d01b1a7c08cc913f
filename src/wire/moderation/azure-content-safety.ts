import { groupTexts, isObject, type ModerationCategory, type ModerationFinding, type ModerationProtocol, textOf } from './moderation.ts';

export interface AzureContentSafetySettings {
	readonly kind: 'azure-content-safety';
	readonly apiKey: string | null;
}

const categories: Readonly<Record<string, ModerationCategory>> = {
	Hate: 'hate',
	SelfHarm: 'violence',
	Sexual: 'sexual',
	Violence: 'violence',
};

/** Scores by severity. Severity 4, the vendor's own threshold for blocking, becomes 0.8; severity 2 becomes 0.5, which is logged. */
const scores = [0, 0.25, 0.5, 0.65, 0.8, 0.9, 1, 1];

const maxCharacters = 10_000;
const apiVersion = '2024-09-01';

/** `text:analyze` of Azure AI Content Safety. */
export function azureContentSafety({ apiKey }: AzureContentSafetySettings): ModerationProtocol {
	return {
		headers: apiKey === null ? {} : { 'ocp-apim-subscription-key': apiKey },
		requestsFor: (texts) =>
			groupTexts(texts, maxCharacters, Number.POSITIVE_INFINITY).map((group) => ({
				target: `/contentsafety/text:analyze?api-version=${apiVersion}`,
				body: JSON.stringify({ text: group.join('\n'), outputType: 'FourSeverityLevels' }),
			})),
		read(body) {
			if (!isObject(body) || !Array.isArray(body['categoriesAnalysis'])) return undefined;
			const findings: ModerationFinding[] = [];
			for (const entry of body['categoriesAnalysis']) {
				const severity = isObject(entry) ? entry['severity'] : undefined;
				const score = typeof severity === 'number' ? scores[severity] : undefined;
				if (!isObject(entry) || score === undefined) return undefined;
				const label = textOf(entry['category']);
				findings.push({ category: categories[label] ?? 'other', label, score });
			}
			return findings.length === 0 ? undefined : { findings, usage: { inputTokens: 0, outputTokens: 0, units: 1 } };
		},
	};
}
