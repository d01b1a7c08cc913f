import type { ResponseReading } from '../../conversation/response.ts';
import { TranslatedStream } from '../../conversation/translated-stream.ts';
import type { ResponseTranslation } from '../../conversation/translation.ts';
import { writeError } from '../chat/errors.ts';
import { chatReading } from '../chat/response.ts';
import { readError } from '../gemini/errors.ts';
import { repairBody } from './body-repair.ts';
import { StreamRepair } from './stream-repair.ts';

/** Chat completions, but for errors, which are Google's. */
export const geminiOpenaiReading: ResponseReading = { ...chatReading, readError };

/** For clients of chat completions: what deviates is repaired, and all else passes. */
export const repairedResponses: ResponseTranslation = {
	translateAnswer: repairBody,
	translateError(status, body, call) {
		const error = readError(status, body);
		const { retryAfterSeconds } = error;
		return { body: writeError(error, call), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
	},
	translateStream(call) {
		const repair = new StreamRepair(call);
		return new TranslatedStream(repair, repair);
	},
};
