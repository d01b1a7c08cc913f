import { fitName, longestToolName } from '../../conversation/fit-name.ts';
import type { ResponseReading, ResponseWriting } from '../../conversation/response.ts';
import { readError, writeError } from './errors.ts';
import { ChatStreamReader, readBody } from './response-reader.ts';
import { CompletionBodyWriter, CompletionStreamWriter, toolNames } from './response-writer.ts';

export const chatReading: ResponseReading = {
	createStreamReader: (sink) => new ChatStreamReader(sink),
	readBody,
	readError,
	fitToolName: (name) => fitName(name, longestToolName),
};

export const chatWriting: ResponseWriting = {
	createStreamWriter: (call, toolNameOf) => new CompletionStreamWriter(call, toolNameOf),
	createBodyWriter: (call, toolNameOf) => new CompletionBodyWriter(call, toolNameOf),
	writeError,
	toolNames,
	finishField: 'finish_reason',
};
