import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

/** Where callers of chat completions mark what to cache, as some libraries let them; to be spread into the block. */
export function cacheMark(part: JsonObject): JsonObject {
	const mark = part.cache_control;
	if (!isJsonObject(mark) || mark.type !== 'ephemeral') return {};
	const hasLifetime = mark.ttl === '5m' || mark.ttl === '1h';
	return { cache_control: hasLifetime ? { type: 'ephemeral', ttl: mark.ttl } : { type: 'ephemeral' } };
}
