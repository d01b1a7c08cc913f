import { isObject, textOf } from '../../json-value.ts';
import { isMarked, type ModerationWire, markedCategories } from '../moderation-wire.ts';
import { headerText } from '../wire.ts';

const types = { hate: 'HATE', violence: 'VIOLENCE', sexual: 'SEXUAL', misconduct: 'MISCONDUCT', attack: 'PROMPT_ATTACK' } as const;

/** `ApplyGuardrail` with an API key or a signed request, whose access key id serves as the key. */
export const bedrockGuardrailWire: ModerationWire = {
	name: 'bedrock-guardrail',
	readKey(headers) {
		const authorization = headerText(headers, 'authorization');
		return /^AWS4-HMAC-SHA256 Credential=([^/]+)\//.exec(authorization)?.[1] ?? authorization.replace(/^Bearer\s+/i, '');
	},
	readModel: (_body, path) => decodeURIComponent(/\/guardrail\/([^/]+)\/version\//.exec(path)?.[1] ?? ''),
	judge(body) {
		const { source, content } = body;
		if ((source !== 'INPUT' && source !== 'OUTPUT') || !Array.isArray(content) || content.length === 0) return undefined;
		const text = content.map((part) => (isObject(part) && isObject(part['text']) ? textOf(part['text']['text']) : '')).join('\n');
		const filters = markedCategories
			.filter((category) => isMarked(text, category))
			.map((category) => ({ type: types[category], confidence: 'HIGH', filterStrength: 'HIGH', action: 'BLOCKED', detected: true }));
		const units = Math.ceil(text.length / 1000);
		return {
			usage: { topicPolicyUnits: 0, contentPolicyUnits: units, wordPolicyUnits: 0, sensitiveInformationPolicyUnits: 0 },
			action: filters.length === 0 ? 'NONE' : 'GUARDRAIL_INTERVENED',
			outputs: filters.length === 0 ? [] : [{ text: 'Sorry, the guardrail blocked this.' }],
			assessments: filters.length === 0 ? [{}] : [{ contentPolicy: { filters } }],
		};
	},
	renderError: (status) => ({ message: `The simulator returns ${status}.` }),
};
