import type { ResponseReading, ResponseWriting } from '../../conversation/response.ts';
import { readError, writeError } from './errors.ts';
import { finishWarnings, MessagesStreamReader, readBody } from './response-reader.ts';
import { MessageBodyWriter, MessageStreamWriter, toolNames } from './response-writer.ts';

export const messagesReading: ResponseReading = {
	createStreamReader: (sink) => new MessagesStreamReader(sink),
	readBody,
	readError,
	finishWarnings,
	fitToolName: (name) => name,
};

export const messagesWriting: ResponseWriting = {
	createStreamWriter: (call, toolNameOf) => new MessageStreamWriter(call, toolNameOf),
	createBodyWriter: (call, toolNameOf) => new MessageBodyWriter(call, toolNameOf),
	writeError,
	toolNames,
	finishField: 'stop_reason',
};
