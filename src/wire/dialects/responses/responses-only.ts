import { memoize } from '../../../core/bounded-map.ts';

/** Models that OpenAI serves on this API only, by name without a date. A request for them to another API is rejected there. */
const responsesOnly =
	/^(?:o1-pro|o3-pro|o3-deep-research|o4-mini-deep-research|computer-use-preview|gpt-5(?:\.\d)?-pro|gpt-5(?:\.\d)?-codex(?:-max|-mini)?|gpt-daybreak-.+|gpt-.+-cyber|gpt-.+-rosalind)(?:-20\d\d-\d\d-\d\d)?$/;

/** @param knownAs the vendor's name of a model. */
export const isResponsesOnly: (knownAs: string) => boolean = memoize(1000, (knownAs) => responsesOnly.test(knownAs));
