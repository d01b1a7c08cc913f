/** Requests from one dialect to another: read into the typed conversation, then written in the provider's dialect. */
import type { FormatName } from '../core/format-name.ts';
import { viewOf } from './conversation/json-view.ts';
import type { RequestReader, RequestWriter, TranslatedRequest, TranslationTarget } from './conversation/request-translation.ts';
import { RequestWarnings } from './conversation/request-warnings.ts';
import { readChatRequest } from './dialects/chat/request-reader.ts';
import { chatRequestWriter } from './dialects/chat/request-writer.ts';
import { geminiRequestWriter } from './dialects/gemini/request-writer.ts';
import { geminiOpenaiRequestWriter } from './dialects/gemini-openai/request-writer.ts';
import { readMessagesRequest } from './dialects/messages/request-reader.ts';
import { messagesRequestWriter } from './dialects/messages/request-writer.ts';
import type { JsonObject } from './json/parse-body.ts';
import type { WireName } from './wire-name.ts';

const readers: Readonly<Record<FormatName, RequestReader>> = {
	chat: readChatRequest,
	messages: readMessagesRequest,
};

const writers: Readonly<Record<WireName, RequestWriter>> = {
	chat: chatRequestWriter,
	messages: messagesRequestWriter,
	gemini: geminiRequestWriter,
	'gemini-openai': geminiOpenaiRequestWriter,
};

/** Whether requests are sent on as the client wrote them, byte for byte. */
export function isSameDialect(client: FormatName, provider: WireName): boolean {
	return client === provider;
}

/**
 * The request as a provider of another dialect takes it. Pure.
 * @throws Refusal `field_invalid` with the JSON path in `param`, for what has no equivalent and must not be guessed.
 */
export function translateRequest(
	client: FormatName,
	provider: WireName,
	members: JsonObject,
	target: TranslationTarget,
): TranslatedRequest {
	const warnings = new RequestWarnings();
	const { variant, takes, write } = writers[provider];
	const written =
		variant?.of === client
			? { body: variant.adapt(members, target, warnings) }
			: write(readers[client](viewOf(members), takes, warnings), target, warnings);
	const notes = warnings.notes();
	return { ...written, warnings: warnings.list(), ...(notes.length > 0 && { notes }) };
}
