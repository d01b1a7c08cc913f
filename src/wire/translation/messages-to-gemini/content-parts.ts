import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { linkedPart, mediaPart } from '../gemini/media-part.ts';
import { isTold, objectAt, stringAt } from '../messages/fields.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';

/** A string, or a list of blocks. @throws Refusal `field_invalid`. */
export function contentParts(content: unknown, path: string, warnings: RequestWarnings): readonly JsonObject[] {
	if (typeof content === 'string') return textParts(content);
	if (!Array.isArray(content)) return refuseField(path, 'must be a string or an array');
	return content.flatMap((block: unknown, index) => translateBlock(objectAt(block, `${path}[${index}]`), `${path}[${index}]`, warnings));
}

export function textParts(text: string): readonly JsonObject[] {
	return text.trim() === '' ? [] : [{ text }];
}

/** A block that a user, a tool or a document may hold. @throws Refusal `field_invalid` for one without equivalent. */
export function translateBlock(block: JsonObject, path: string, warnings: RequestWarnings): readonly JsonObject[] {
	switch (block.type) {
		case 'text':
			return textParts(stringAt(block.text, `${path}.text`));
		case 'image':
			return [sourcePart(objectAt(block.source, `${path}.source`), 'image/', `${path}.source`)];
		case 'document':
			return documentParts(block, path, warnings);
		case 'search_result':
			return textParts([block.title, block.source, ...textsOf(block.content)].filter(isTold).join('\n'));
		case 'tool_reference':
			return textParts(stringAt(block.tool_name, `${path}.tool_name`));
		default:
			return refuseField(`${path}.type`, 'names a kind of block that the model’s provider has no equivalent for: leave it out');
	}
}

function sourcePart(source: JsonObject, kind: 'image/' | 'application/pdf', path: string): JsonObject {
	if (source.type === 'url') return linkedPart(stringAt(source.url, `${path}.url`));
	if (source.type !== 'base64') return refuseField(`${path}.type`, 'must be `base64` or `url`: files of the other vendor cannot be read');
	const { media_type: type } = source;
	const isOfKind = typeof type === 'string' && type.startsWith(kind);
	const part = isOfKind ? mediaPart(type, stringAt(source.data, `${path}.data`)) : undefined;
	return (
		part ?? refuseField(`${path}.media_type`, `must be ${kind === 'image/' ? 'one of the images that the provider takes' : `\`${kind}\``}`)
	);
}

function documentParts(block: JsonObject, path: string, warnings: RequestWarnings): readonly JsonObject[] {
	const source = objectAt(block.source, `${path}.source`);
	if (isJsonObject(block.citations) && block.citations.enabled === true) warnings.add('citations', 'ignored');
	const heading = [block.title, block.context].filter(isTold);
	switch (source.type) {
		case 'base64':
		case 'url':
			return [...textParts(heading.join('\n')), sourcePart(source, 'application/pdf', `${path}.source`)];
		case 'text':
			return textParts([...heading, stringAt(source.data, `${path}.source.data`)].join('\n'));
		case 'content':
			return [...textParts(heading.join('\n')), ...contentParts(source.content, `${path}.source.content`, warnings)];
		default:
			return refuseField(`${path}.source.type`, 'must be `base64`, `url`, `text` or `content`: send the document itself');
	}
}

function textsOf(content: unknown): unknown[] {
	return Array.isArray(content) ? content.map((block: unknown) => (isJsonObject(block) ? block.text : undefined)) : [];
}
