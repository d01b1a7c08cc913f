import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { parseDataUrl } from '../chat/data-url.ts';
import { refuseField } from '../refuse-field.ts';
import { cacheMark } from './cache-mark.ts';

const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/**
 * A message's content as blocks; texts without a visible character are left out, for the provider refuses them.
 * @throws Refusal `field_invalid` with the part's path.
 */
export function translateContent(content: unknown, path: string): readonly JsonObject[] {
	if (content === undefined || content === null) return [];
	if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }];
	if (!Array.isArray(content)) return refuseField(path, 'must be a string or an array of parts');
	const blocks: JsonObject[] = [];
	for (const [index, part] of (content as readonly unknown[]).entries()) {
		const block = translatePart(part, `${path}[${index}]`);
		if (block !== undefined) blocks.push(block);
	}
	return blocks;
}

/** Content that can be nothing but text, such as a system message's. @throws Refusal `field_invalid`. */
export function translateText(content: unknown, path: string): readonly JsonObject[] {
	const blocks = translateContent(content, path);
	if (blocks.some((block) => block.type !== 'text')) refuseField(path, 'must be text alone: send other parts in a user message');
	return blocks;
}

export function isBlank(text: string): boolean {
	return text.trim() === '';
}

function translatePart(part: unknown, path: string): JsonObject | undefined {
	if (!isJsonObject(part)) return refuseField(path, 'must be an object');
	switch (part.type) {
		case 'text':
			return textBlock(part.text, part, `${path}.text`);
		case 'refusal':
			return textBlock(part.refusal, part, `${path}.refusal`);
		case 'image_url':
			return { type: 'image', source: imageSource(part.image_url, `${path}.image_url`), ...cacheMark(part) };
		case 'file':
			return { ...documentBlock(part.file, `${path}.file`), ...cacheMark(part) };
		default:
			return refuseField(`${path}.type`, 'is none that this model’s provider takes: send `text`, `image_url` or `file`');
	}
}

function textBlock(text: unknown, part: JsonObject, path: string): JsonObject | undefined {
	if (typeof text !== 'string') return refuseField(path, 'must be a string');
	return isBlank(text) ? undefined : { type: 'text', text, ...cacheMark(part) };
}

/** Addresses are passed on for the provider to fetch; the gateway fetches nothing for a caller. */
function imageSource(image: unknown, path: string): JsonObject {
	const url = isJsonObject(image) ? image.url : undefined;
	if (typeof url !== 'string') return refuseField(`${path}.url`, 'must be a string: an https address or a data URL in base64');
	if (/^https?:\/\//i.test(url)) return { type: 'url', url };
	const data = parseDataUrl(url);
	if (data === undefined) return refuseField(`${path}.url`, 'must be an https address or a data URL in base64');
	const mediaType = data.mediaType === 'image/jpg' ? 'image/jpeg' : data.mediaType;
	if (!imageTypes.has(mediaType)) refuseField(`${path}.url`, 'must be an image of type jpeg, png, gif or webp');
	return { type: 'base64', media_type: mediaType, data: data.base64 };
}

function documentBlock(file: unknown, path: string): JsonObject {
	const { file_data, filename } = isJsonObject(file) ? file : {};
	if (typeof file_data !== 'string') {
		return refuseField(path, 'must carry its content in `file_data`: files that another provider keeps cannot be read');
	}
	const data = parseDataUrl(file_data);
	const title = typeof filename === 'string' && !isBlank(filename) ? { title: filename } : {};
	if (data?.mediaType === 'application/pdf') {
		return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: data.base64 }, ...title };
	}
	if (data?.mediaType.startsWith('text/')) {
		const text = Buffer.from(data.base64, 'base64').toString('utf8');
		return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title };
	}
	return refuseField(`${path}.file_data`, 'must be a data URL in base64 of type application/pdf or text');
}
