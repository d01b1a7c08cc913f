/** Translates between dialects: requests through the typed conversation, responses through one reader and one writer. */
import type { ClientDialectName, ConversationDialectName, DialectName } from '../core/dialect-name.ts';
import { viewOf } from './conversation/json-view.ts';
import { noReasoningEncryption } from './conversation/reasoning-encryption.ts';
import { RequestWarnings, type TranslatedRequest, type TranslationTarget } from './conversation/request-translation.ts';
import { type ResponseTranslation, translateResponses } from './conversation/translation.ts';
import type { ClientConversationDialect, ConversationDialect } from './dialects/dialect.ts';
import { clientConversations, conversations, dialects, isConversation } from './dialects/dialects.ts';
import type { JsonObject } from './json/parse-body.ts';
import type { Protocol } from './providers/protocol.ts';

/**
 * Returns the dialect in which a provider receives requests of a client's dialect: that one if the provider serves it, a variant of it, or
 * the dialect of its conversations.
 * @param preferred dialect of the conversations of one model, if the provider serves it.
 * @returns undefined if the provider does not serve such requests.
 */
export function dialectAt(
	{ apis, conversation }: Protocol,
	client: ClientDialectName,
	preferred?: ConversationDialectName,
): DialectName | undefined {
	if (isConversation(client)) {
		if (preferred !== undefined && apis[preferred] !== undefined) return preferred;
		return apis[client] === undefined ? conversation : client;
	}
	const isServed = (name: DialectName): boolean => name === client || dialects[name].variant?.of === client;
	return (Object.keys(apis) as DialectName[]).find(isServed);
}

/**
 * Translates a request for a provider of another dialect. Pure.
 * @throws `Rejection` `field_invalid` with the JSON path in `param`, for a value without an equivalent that must not be guessed.
 */
export function translateRequest(
	client: ClientDialectName,
	provider: DialectName,
	members: JsonObject,
	target: TranslationTarget,
): TranslatedRequest {
	const warnings = new RequestWarnings();
	const { variant } = dialects[provider];
	const written =
		variant?.of === client
			? { body: variant.adapt(members, target, warnings) }
			: writeConversation(readerOf(client), writerOf(provider), members, target, warnings);
	const notes = warnings.notes();
	return { ...written, warnings: warnings.list(), ...(notes.length > 0 && { notes }) };
}

function writeConversation(
	{ readRequest }: ClientConversationDialect,
	{ requestWriter: { takes, write } }: ConversationDialect,
	members: JsonObject,
	target: TranslationTarget,
	warnings: RequestWarnings,
): Pick<TranslatedRequest, 'body' | 'headers'> {
	return write(readRequest(viewOf(members), takes, warnings, target.encryption ?? noReasoningEncryption), target, warnings);
}

/** @throws Error for a dialect that has no conversations, for which `dialectAt` returns no other dialect than its variants. */
function readerOf(client: ClientDialectName): ClientConversationDialect {
	if (isConversation(client)) return clientConversations[client];
	throw new Error('the dialect of the client has no conversations');
}

function writerOf(provider: DialectName): ConversationDialect {
	if (isConversation(provider)) return conversations[provider];
	throw new Error('the dialect of the provider has no conversations');
}

const translations = new Map<string, ResponseTranslation>();

/** Returns the translation of responses from a provider of another dialect for a client. */
export function responseTranslation(client: ClientDialectName, provider: DialectName): ResponseTranslation {
	const key = `${client} ${provider}`;
	let translation = translations.get(key);
	if (translation === undefined) {
		const { variant } = dialects[provider];
		translation =
			variant?.of === client ? variant.responses : translateResponses(writerOf(provider).responses, readerOf(client).writtenResponses);
		translations.set(key, translation);
	}
	return translation;
}
