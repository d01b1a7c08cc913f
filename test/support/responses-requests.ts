/** Translates requests from and to the Responses API, as tests execute it. */
import { viewOf } from '../../src/wire/conversation/json-view.ts';
import { noReasoningEncryption, type ReasoningEncryption } from '../../src/wire/conversation/reasoning-encryption.ts';
import {
	type RequestReader,
	RequestWarnings,
	type RequestWriter,
	type TranslationTarget,
} from '../../src/wire/conversation/request-translation.ts';
import { readChatRequest } from '../../src/wire/dialects/chat/request-reader.ts';
import { chatRequestWriter } from '../../src/wire/dialects/chat/request-writer.ts';
import { geminiRequestWriter } from '../../src/wire/dialects/gemini/request-writer.ts';
import { readMessagesRequest } from '../../src/wire/dialects/messages/request-reader.ts';
import { messagesRequestWriter } from '../../src/wire/dialects/messages/request-writer.ts';
import { readResponsesRequest } from '../../src/wire/dialects/responses/request-reader.ts';
import { responsesRequestWriter } from '../../src/wire/dialects/responses/request-writer.ts';
import type { JsonObject } from '../../src/wire/json/parse-body.ts';

export const providers = { chat: chatRequestWriter, messages: messagesRequestWriter, gemini: geminiRequestWriter };
export type Provider = keyof typeof providers;

const models: Readonly<Record<Provider, string>> = { chat: 'gpt-4.1', messages: 'claude-sonnet-4-5', gemini: 'gemini-2.5-pro' };
const clients = { chat: readChatRequest, messages: readMessagesRequest };

export interface Translated {
	/** As it is sent. */
	readonly body: JsonObject;
	readonly warnings: readonly string[];
}

/** @param encryption of reasoning; by default nothing can be decrypted. */
export function fromResponses(
	provider: Provider,
	request: JsonObject,
	target: Partial<TranslationTarget> = {},
	encryption?: ReasoningEncryption,
): Translated {
	return translate(readResponsesRequest, providers[provider], request, { model: models[provider], ...target }, encryption);
}

export function toResponses(client: keyof typeof clients, request: JsonObject, target: Partial<TranslationTarget> = {}): Translated {
	return translate(clients[client], responsesRequestWriter, request, { model: 'gpt-5.6', ...target });
}

function translate(
	read: RequestReader,
	{ takes, write }: RequestWriter,
	request: JsonObject,
	target: Partial<TranslationTarget> & { readonly model: string },
	encryption = noReasoningEncryption,
): Translated {
	const warnings = new RequestWarnings();
	const { body } = write(read(viewOf(request), takes, warnings, encryption), { maxOutputTokens: undefined, ...target }, warnings);
	return { body: JSON.parse(JSON.stringify(body)) as JsonObject, warnings: warnings.list() };
}
