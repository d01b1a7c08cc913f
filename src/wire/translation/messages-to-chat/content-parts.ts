import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { isTold, objectAt, stringAt } from '../messages/fields.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';

/** A part of a chat message's content. */
export type ChatPart =
	| { readonly type: 'text'; readonly text: string }
	| { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
	| { readonly type: 'file'; readonly file: { readonly filename: string; readonly file_data: string } };

const imageTypes: readonly unknown[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/**
 * A block that a user, a tool or a document may hold. Texts that the vendor would not take, empty ones, become nothing.
 * @throws Refusal `field_invalid` for a block without equivalent.
 */
export function translateBlock(block: unknown, path: string, warnings: RequestWarnings): readonly ChatPart[] {
	if (!isJsonObject(block)) return refuseField(path, 'must be an object');
	switch (block.type) {
		case 'text':
			return textParts(stringAt(block.text, `${path}.text`));
		case 'image':
			return [imagePart(objectAt(block.source, `${path}.source`), `${path}.source`)];
		case 'document':
			return documentParts(block, path, warnings);
		case 'search_result':
			return textParts([block.title, block.source, ...textsOf(block.content)].filter(isTold).join('\n'));
		default:
			return refuseField(`${path}.type`, 'names a kind of block that the model’s provider has no equivalent for: leave it out');
	}
}

export function textParts(text: string): readonly ChatPart[] {
	return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** Content as short as it can be said: one text is a string, and so are several where parts may not be taken. */
export function contentOf(parts: readonly ChatPart[], takesTextParts: boolean): string | readonly ChatPart[] {
	const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
	if (texts.length < parts.length) return parts;
	return takesTextParts && texts.length > 1 ? parts : texts.join('\n');
}

function imagePart(source: JsonObject, path: string): ChatPart {
	if (source.type === 'url') return { type: 'image_url', image_url: { url: stringAt(source.url, `${path}.url`) } };
	if (source.type !== 'base64') return refuseField(`${path}.type`, 'must be `base64` or `url`: files of the other vendor cannot be read');
	if (!imageTypes.includes(source.media_type)) refuseField(`${path}.media_type`, `must be one of \`${imageTypes.join('`, `')}\``);
	return { type: 'image_url', image_url: { url: dataUrl(source, path) } };
}

function documentParts(block: JsonObject, path: string, warnings: RequestWarnings): readonly ChatPart[] {
	const source = objectAt(block.source, `${path}.source`);
	if (isJsonObject(block.citations) && block.citations.enabled === true) warnings.add('citations', 'ignored');
	const title = isTold(block.title) ? block.title : undefined;
	const heading = [block.title, block.context].filter(isTold);
	switch (source.type) {
		case 'base64': {
			if (source.media_type !== 'application/pdf') refuseField(`${path}.source.media_type`, 'must be `application/pdf`');
			const filename = title === undefined ? 'document.pdf' : `${title.replace(/\.pdf$/i, '')}.pdf`;
			const context = isTold(block.context) ? textParts(block.context) : [];
			return [...context, { type: 'file', file: { filename, file_data: dataUrl(source, `${path}.source`) } }];
		}
		case 'text':
			return textParts([...heading, stringAt(source.data, `${path}.source.data`)].join('\n'));
		case 'content':
			return [...textParts(heading.join('\n')), ...translateContent(source.content, `${path}.source.content`, warnings)];
		default:
			return refuseField(`${path}.source.type`, 'must be `base64`, `text` or `content`: send the document itself');
	}
}

/** A string, or a list of blocks. */
export function translateContent(content: unknown, path: string, warnings: RequestWarnings): readonly ChatPart[] {
	if (typeof content === 'string') return textParts(content);
	if (!Array.isArray(content)) return refuseField(path, 'must be a string or an array');
	return content.flatMap((block: unknown, index) => translateBlock(block, `${path}[${index}]`, warnings));
}

function dataUrl({ media_type, data }: JsonObject, path: string): string {
	return `data:${String(media_type)};base64,${stringAt(data, `${path}.data`)}`;
}

function textsOf(content: unknown): unknown[] {
	return Array.isArray(content) ? content.map((block: unknown) => (isJsonObject(block) ? block.text : undefined)) : [];
}
