/** Reads the content filter's weights, which `training/` writes. `src/policy/guardrails/content` scores with them. */
import { readFileSync } from 'node:fs';

export const contentWeightsFile = new URL('weights/weights.bin', import.meta.url);

export function readContentWeights(): Uint8Array {
	return readFileSync(contentWeightsFile);
}
