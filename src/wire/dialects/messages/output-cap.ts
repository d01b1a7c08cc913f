import type { Conversation, OutputCap } from '../../conversation/conversation.ts';
import type { TranslationTarget } from '../../conversation/request-translation.ts';

/** What every Claude model can write. */
const leastMaximum = 4096;

/** A non-streaming response shows nothing for as long as it takes, so without a cap it is kept to a few minutes. */
const nonStreamingDefault = 16_384;

/** The cap, which this provider demands: the client's, else the default, which has no field. */
export type GivenCap = Omit<OutputCap, 'field'> & Partial<Pick<OutputCap, 'field'>>;

/** @throws Refusal `field_invalid`. */
export function outputCapOf(conversation: Conversation, target: TranslationTarget): GivenCap {
	const { maxOutputTokens: max, defaultMaxTokens } = target;
	const cap = conversation.outputCap(max);
	if (cap !== undefined) return cap;
	const usual = max ?? leastMaximum;
	const value = defaultMaxTokens ?? (conversation.isStreamed ? usual : Math.min(usual, nonStreamingDefault));
	return { value: Math.min(value, max ?? value), includesReasoning: false };
}
