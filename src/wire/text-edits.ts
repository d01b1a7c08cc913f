/** Changes of single texts in a body, every other byte kept. */
import { locateValues } from './json/locate-values.ts';
import { replacedTokens } from './json/replaced-tokens.ts';
import type { Edit } from './json/splice-body.ts';
import type { ViewedText } from './text-view.ts';

/** @param changes what each text is to be instead; of a text that is a JSON value: the JSON. */
export function textEdits(bytes: Buffer, changes: readonly (readonly [ViewedText, string])[]): readonly Edit[] {
	const ranges = locateValues(
		bytes,
		changes.map(([{ path }]) => path),
	);
	return changes.flatMap(([{ isValue, text: before, dataUrlHead }, text], index) => {
		const range = ranges[index];
		if (range === undefined) return [];
		if (dataUrlHead !== undefined) {
			return [{ ...range, text: JSON.stringify(dataUrlHead + Buffer.from(text).toString('base64')) }];
		}
		if (!isValue) return [{ ...range, text: JSON.stringify(text) }];
		return replacedTokens(bytes, range, before, text) ?? [{ ...range, text }];
	});
}
