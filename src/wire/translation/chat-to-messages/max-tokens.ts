import type { JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import type { TranslationTarget } from '../translation.ts';

/** What every Claude model can write. */
const leastMaximum = 4096;

/** Of an answer in one piece nothing is seen for as long as it takes, so without a cap it is kept to a few minutes. */
const wholeAnswerDefault = 16_384;

export interface MaxTokens {
	readonly tokens: number;
	/** Where the caller gave it; undefined for a cap by default. */
	readonly field?: string;
	/** The caller's cap covers thinking too, as `max_completion_tokens` says. */
	readonly includesThinking: boolean;
}

/** The cap, which this provider demands. @throws Refusal `field_invalid`. */
export function translateMaxTokens(request: JsonObject, target: TranslationTarget, warnings: RequestWarnings): MaxTokens {
	const most = target.maxOutputTokens ?? Number.POSITIVE_INFINITY;
	const name = isGiven(request.max_completion_tokens) ? 'max_completion_tokens' : 'max_tokens';
	const wanted = request[name];
	if (!isGiven(wanted)) {
		const usual = target.maxOutputTokens ?? leastMaximum;
		const byDefault = target.defaultMaxTokens ?? (request.stream === true ? usual : Math.min(usual, wholeAnswerDefault));
		return { tokens: Math.min(byDefault, most), includesThinking: false };
	}
	if (!Number.isInteger(wanted) || (wanted as number) < 1) return refuseField(name, 'must be an integer of at least 1');
	if ((wanted as number) > most) warnings.add(name, `lowered to ${most}`);
	return { tokens: Math.min(wanted as number, most), field: name, includesThinking: name === 'max_completion_tokens' };
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}
