import type { Capability, ContentPart, MediaSource, TextPart } from '../../conversation/conversation.ts';
import { cacheMarkOf } from '../../conversation/extensions.ts';
import { isBlank, type JsonView, requireObject, requireText } from '../../conversation/json-view.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import { longestHead, parseDataUrlHead } from './data-url.ts';

/** The content of a message; texts that show nothing are left out. @throws Refusal `field_invalid`. */
export function readContent(content: JsonView, takes: ReadonlySet<Capability>): readonly ContentPart[] {
	if (!content.isGiven) return [];
	if (content.kind === 'string') return textParts(content, content);
	if (content.kind !== 'array') return rejectField(content.path, 'must be a string or an array of parts');
	return content.items().flatMap((part) => readPart(requireObject(part), takes));
}

/** Content that can be nothing but text, such as a system message's. @throws Refusal `field_invalid`. */
export function readTexts(content: JsonView, takes: ReadonlySet<Capability>): readonly TextPart[] {
	const parts = readContent(content, takes);
	for (const part of parts) if (part.type === 'opaque') rejectField(part.at.path, part.cure);
	return parts.map((part) =>
		part.type === 'text' ? part : rejectField(content.path, 'must be text alone: send other parts in a user message'),
	);
}

function readPart(part: JsonView, takes: ReadonlySet<Capability>): readonly ContentPart[] {
	switch (part.member('type').text()) {
		case 'text':
			return textParts(part, part.member('text'));
		case 'refusal':
			return textParts(part, part.member('refusal'));
		case 'image_url':
			return [{ type: 'image', at: part, source: imageSource(part.member('image_url').member('url')), cacheMark: cacheMarkOf(part) }];
		case 'file':
			return [filePart(part, part.member('file'))];
		case 'input_audio':
			return takes.has('audio') ? [audioPart(part.member('input_audio'))] : [opaquePart(part, takes)];
		default:
			return [opaquePart(part, takes)];
	}
}

function opaquePart(part: JsonView, takes: ReadonlySet<Capability>): ContentPart {
	const known = takes.has('audio') ? '`text`, `image_url`, `input_audio` or `file`' : '`text`, `image_url` or `file`';
	return { type: 'opaque', at: part.member('type'), text: undefined, cure: `is none that this model’s provider takes: send ${known}` };
}

function textParts(part: JsonView, said: JsonView): readonly TextPart[] {
	const text = requireText(said);
	return isBlank(text) ? [] : [{ type: 'text', at: part, text, cacheMark: cacheMarkOf(part) }];
}

/** Addresses are passed on for the provider to fetch; the gateway fetches nothing for a client. */
function imageSource(url: JsonView): MediaSource {
	if (url.kind !== 'string') return rejectField(url.path, 'must be a string: an https address or a data URL in base64');
	return /^https?:\/\//i.test(url.prefix(longestHead)) ? { kind: 'link', at: url, url: requireText(url) } : dataSource(url);
}

function dataSource(url: JsonView): MediaSource {
	const head = parseDataUrlHead(url.prefix(longestHead));
	if (head === undefined) return { kind: 'invalid', at: url };
	return { kind: 'data', at: url, mediaType: head.mediaType, base64: () => requireText(url).slice(head.dataStart) };
}

function audioPart(audio: JsonView): ContentPart {
	return { type: 'audio', at: audio, format: audio.member('format').text(), base64: () => requireText(audio.member('data')) };
}

function filePart(part: JsonView, file: JsonView): ContentPart {
	const data = file.member('file_data');
	const filename = file.member('filename').text();
	const source: MediaSource =
		data.kind === 'string'
			? dataSource(data)
			: { kind: 'foreign', at: file, cure: 'must carry its content in `file_data`: files that another provider keeps cannot be read' };
	return { type: 'file', at: part, source, filename, title: undefined, context: undefined, cacheMark: cacheMarkOf(part) };
}
