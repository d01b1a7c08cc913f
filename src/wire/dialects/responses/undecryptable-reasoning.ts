import { readObject } from '../../conversation/read-json.ts';
import { cutValues } from '../../json/locate-values.ts';
import { isJsonObject, type JsonBody, type JsonObject } from '../../json/parse-body.ts';
import type { Edit } from '../../json/splice-body.ts';
import type { ValuePath } from '../../text-view.ts';
import type { UndecryptableReasoning } from '../dialect.ts';
import { isGenerated } from './vendor-items.ts';

/**
 * OpenAI binds encrypted reasoning to an account, and Azure to a deployment. After a failover or a change of the key, a request is possible
 * without it: all reasoning goes, and with it the ids by which items require their reasoning.
 */
export const undecryptableReasoning: UndecryptableReasoning = {
	warning: 'encrypted reasoning that the provider could not decrypt dropped',
	isRejected(body) {
		const { error } = readObject(body.toString()) ?? {};
		return isJsonObject(error) && error.code === 'invalid_encrypted_content';
	},
	cuts({ bytes, members }: JsonBody): readonly Edit[] {
		const paths = pathsIn(members);
		return paths.length === 0 ? [] : cutValues(bytes, paths);
	},
};

/** Returns nothing if the request is impossible without what is encrypted: a compaction replaces the turns before it. */
function pathsIn({ input }: JsonObject): readonly ValuePath[] {
	const items = Array.isArray(input) ? (input as readonly unknown[]) : [];
	const isReasoning = (item: unknown): boolean => isJsonObject(item) && item.type === 'reasoning';
	const hasCompaction = items.some((item) => isJsonObject(item) && item.type === 'compaction');
	if (hasCompaction || !items.some(isReasoning) || items.every(isReasoning)) return [];
	return items.flatMap((item, index): readonly ValuePath[] => {
		if (isReasoning(item)) return [['input', index]];
		return isJsonObject(item) && item.id !== undefined && isGenerated(item) ? [['input', index, 'id']] : [];
	});
}
