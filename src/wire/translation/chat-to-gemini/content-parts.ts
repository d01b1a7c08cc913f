import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { parseDataUrl } from '../chat/data-url.ts';
import { linkedPart, mediaPart } from '../gemini/media-part.ts';
import { refuseField } from '../refuse-field.ts';

/** A message's content as parts; blank texts are left out. @throws Refusal `field_invalid` with the part's path. */
export function translateContent(content: unknown, path: string): readonly JsonObject[] {
	if (content === undefined || content === null) return [];
	if (typeof content === 'string') return textParts(content);
	if (!Array.isArray(content)) return refuseField(path, 'must be a string or an array of parts');
	return content.flatMap((part: unknown, index) => translatePart(part, `${path}[${index}]`));
}

/** Content that can be nothing but text, its parts joined. @throws Refusal `field_invalid`. */
export function textOf(content: unknown, path: string): string {
	const parts = translateContent(content, path);
	return parts
		.map(({ text }) => (typeof text === 'string' ? text : refuseField(path, 'must be text alone: send other parts in a user message')))
		.join('');
}

function textParts(text: string): readonly JsonObject[] {
	return text.trim() === '' ? [] : [{ text }];
}

function translatePart(part: unknown, path: string): readonly JsonObject[] {
	if (!isJsonObject(part)) return refuseField(path, 'must be an object');
	switch (part.type) {
		case 'text':
			return textParts(stringAt(part.text, `${path}.text`));
		case 'refusal':
			return textParts(stringAt(part.refusal, `${path}.refusal`));
		case 'image_url':
			return [imagePart(part.image_url, `${path}.image_url.url`)];
		case 'input_audio':
			return [audioPart(part.input_audio, `${path}.input_audio`)];
		case 'file':
			return [filePart(part.file, `${path}.file`)];
		default:
			return refuseField(`${path}.type`, 'is none that this model’s provider takes: send `text`, `image_url`, `input_audio` or `file`');
	}
}

function imagePart(image: unknown, path: string): JsonObject {
	const url = stringAt(isJsonObject(image) ? image.url : undefined, path);
	if (/^https?:\/\//i.test(url)) return linkedPart(url);
	const data = parseDataUrl(url);
	const part = data?.mediaType.startsWith('image/') === true ? mediaPart(data.mediaType, data.base64) : undefined;
	return (
		part ?? refuseField(path, 'must be an https address, or a data URL in base64 of an image of type png, jpeg, webp, gif, heic or heif')
	);
}

function audioPart(audio: unknown, path: string): JsonObject {
	const { data, format } = isJsonObject(audio) ? audio : {};
	const part = typeof format === 'string' ? mediaPart(`audio/${format}`, stringAt(data, `${path}.data`)) : undefined;
	return part ?? refuseField(`${path}.format`, 'must be `wav` or `mp3`');
}

function filePart(file: unknown, path: string): JsonObject {
	const { file_data } = isJsonObject(file) ? file : {};
	if (typeof file_data !== 'string') {
		return refuseField(path, 'must carry its content in `file_data`: files that another provider keeps cannot be read');
	}
	const data = parseDataUrl(file_data);
	const part = data === undefined ? undefined : mediaPart(data.mediaType, data.base64);
	return part ?? refuseField(`${path}.file_data`, 'must be a data URL in base64 of a PDF, a text, an image or a recording');
}

function stringAt(value: unknown, path: string): string {
	return typeof value === 'string' ? value : refuseField(path, 'must be a string');
}
