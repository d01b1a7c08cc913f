import type { ResponseReading } from '../../conversation/response.ts';
import { readError } from './errors.ts';
import { finishWarnings } from './finish.ts';
import { GeminiStreamReader, readBody } from './response-reader.ts';
import { geminiToolName } from './tool-names.ts';

export const geminiReading: ResponseReading = {
	createStreamReader: (sink) => new GeminiStreamReader(sink),
	readBody,
	readError,
	finishWarnings,
	fitToolName: geminiToolName,
};
