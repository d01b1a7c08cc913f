import { splitModelName } from '../../faults/fault-names.ts';

export interface GeminiModel {
	readonly isKnown: boolean;
	/** Uses reasoning by default. */
	readonly thinks: boolean;
	/** Requires that function calls of the history carry their original signature. */
	readonly needsSignatures: boolean;
}

const knownNames = /^gemini-(?:\d(?:\.\d)?-)?(?:pro|flash|flash-lite|ultra)(?:-(?:latest|preview|exp|image|tts|thinking|\d{2,4}))*$/;

export function geminiModel(name: string): GeminiModel {
	const { base, faults } = splitModelName(name);
	const version = Number(/^gemini-(\d+(?:\.\d+)?)/.exec(base)?.[1] ?? '0');
	return { isKnown: faults !== undefined || knownNames.test(name), thinks: version >= 2.5, needsSignatures: version >= 3 };
}
