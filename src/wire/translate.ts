/** Translates between dialects: requests through the typed conversation, responses through one reader and one writer. */
import type { ClientDialectName, DialectName } from '../core/dialect-name.ts';
import { viewOf } from './conversation/json-view.ts';
import { RequestWarnings, type TranslatedRequest, type TranslationTarget } from './conversation/request-translation.ts';
import { type ResponseTranslation, translateResponses } from './conversation/translation.ts';
import { clientDialects, dialects } from './dialects/dialects.ts';
import type { JsonObject } from './json/parse-body.ts';

/** True if requests are forwarded byte for byte. */
export function isSameDialect(client: ClientDialectName, provider: DialectName): boolean {
	return client === provider;
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
	const { variant, takes, write } = dialects[provider].requestWriter;
	const written =
		variant?.of === client
			? { body: variant.adapt(members, target, warnings) }
			: write(clientDialects[client].readRequest(viewOf(members), takes, warnings), target, warnings);
	const notes = warnings.notes();
	return { ...written, warnings: warnings.list(), ...(notes.length > 0 && { notes }) };
}

const translations = new Map<string, ResponseTranslation>();

/** Returns the translation of responses from a provider of another dialect for a client. */
export function responseTranslation(client: ClientDialectName, provider: DialectName): ResponseTranslation {
	const key = `${client} ${provider}`;
	let translation = translations.get(key);
	if (translation === undefined) {
		const { repairs, responses } = dialects[provider];
		translation = repairs?.of === client ? repairs.responses : translateResponses(responses, clientDialects[client].writtenResponses);
		translations.set(key, translation);
	}
	return translation;
}
