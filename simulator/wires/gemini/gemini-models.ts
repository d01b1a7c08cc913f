import { splitModelName } from '../../faults/fault-names.ts';

export interface GeminiModel {
	readonly isKnown: boolean;
	/** Thinks unless told not to. */
	readonly thinks: boolean;
	/** Function calls of the history must carry the signature they came with. */
	readonly needsSignatures: boolean;
}

const knownNames = /^gemini-(?:\d(?:\.\d)?-)?(?:pro|flash|flash-lite|ultra)(?:-(?:latest|preview|exp|image|tts|thinking|\d{2,4}))*$/;

export function geminiModel(name: string): GeminiModel {
	const { base, faults } = splitModelName(name);
	const version = Number(/^gemini-(\d+(?:\.\d+)?)/.exec(base)?.[1] ?? '0');
	return { isKnown: faults !== undefined || knownNames.test(name), thinks: version >= 2.5, needsSignatures: version >= 3 };
}
