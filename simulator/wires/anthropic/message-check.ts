/** Context of the rules for a messages request, and the errors for broken ones. */
import { VendorError } from '../../vendor-error.ts';
import type { AnthropicModel } from './anthropic-models.ts';

export const newestVersion = '2026-10-21';
export const knownVersions: readonly string[] = ['2023-01-01', '2023-06-01', newestVersion];

export interface MessageCheck {
	readonly model: AnthropicModel;
	readonly version: string;
	readonly hasBeta: boolean;
	/** Token counting accepts neither `max_tokens` nor `stream`. */
	readonly isCount: boolean;
}

export function reject(message: string): never {
	throw new VendorError('invalid', message);
}
