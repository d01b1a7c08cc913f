import type {
	CacheMark,
	ContentPart,
	FilePart,
	MediaSource,
	ReasoningPart,
	TextPart,
	ToolCall,
	ToolResult,
} from '../../conversation/conversation.ts';
import { fitName } from '../../conversation/fit-name.ts';
import { isBlank } from '../../conversation/json-view.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import type { JsonObject } from '../../json/parse-body.ts';

/** To be spread into a block or a tool. */
export function writeCacheMark(mark: CacheMark | undefined): JsonObject {
	if (mark === undefined) return {};
	return { cache_control: { type: 'ephemeral', ...(mark.ttl !== undefined && { ttl: mark.ttl }) } };
}

export function textBlock({ text, cacheMark }: Pick<TextPart, 'text' | 'cacheMark'>): JsonObject {
	return { type: 'text', text, ...writeCacheMark(cacheMark) };
}

/** @throws Refusal `field_invalid` for a part without equivalent. */
export function contentBlock(part: ContentPart): JsonObject {
	switch (part.type) {
		case 'text':
			return textBlock(part);
		case 'image':
			return { type: 'image', source: imageSource(part.source), ...writeCacheMark(part.cacheMark) };
		case 'audio':
			return rejectField(part.at.path, 'cannot be passed on: this model does not hear. Send its transcript');
		case 'file':
			return documentBlock(part);
		case 'opaque':
			return rejectField(part.at.path, part.cure);
	}
}

export function resultBlock({ call, content, isError }: ToolResult): JsonObject {
	const said = typeof content === 'string' ? (isBlank(content) ? '' : content) : content.map(contentBlock);
	return {
		type: 'tool_result',
		tool_use_id: toolUseId(call),
		...(said.length > 0 && { content: said }),
		...(isError && { is_error: true }),
	};
}

export function toolUseBlock(call: ToolCall): JsonObject {
	return { type: 'tool_use', id: toolUseId(call), name: call.name, input: call.arguments.object() };
}

/** What the provider signed or encrypted itself, as it was. */
export function thinkingBlock(signed: NonNullable<ReasoningPart['signed']>): JsonObject {
	switch (signed.kind) {
		case 'encrypted':
			return { type: 'redacted_thinking', data: signed.data };
		case 'text':
			return { type: 'thinking', thinking: signed.text, signature: signed.signature };
	}
}

/** Longer ones have not been seen to be taken. */
const maxUseIdLength = 128;

/** Far longer than any vendor's; each has to be hashed. */
const maxIdLength = 1024;

/** A tool call's id as the provider takes it, the same for the call and its result. @throws Refusal `field_invalid`. */
function toolUseId({ id, at }: ToolCall): string {
	if (id.length > maxIdLength) rejectField(`${at.path}.id`, `must be a string of at most ${maxIdLength} characters`);
	return fitName(id, maxUseIdLength);
}

const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function imageSource(source: MediaSource): JsonObject {
	switch (source.kind) {
		case 'link':
			return { type: 'url', url: source.url };
		case 'data': {
			const mediaType = source.mediaType === 'image/jpg' ? 'image/jpeg' : (source.mediaType ?? '');
			if (!imageTypes.has(mediaType)) rejectField(source.at.path, 'must be an image of type jpeg, png, gif or webp');
			return { type: 'base64', media_type: mediaType, data: source.base64() };
		}
		case 'invalid':
			return rejectField(source.at.path, 'must be an https address or a data URL in base64');
		case 'foreign':
			return rejectField(source.at.path, source.cure);
	}
}

function documentBlock({ source, title, filename, cacheMark }: FilePart): JsonObject {
	const name = title ?? filename;
	return {
		type: 'document',
		source: documentSource(source),
		...(name !== undefined && !isBlank(name) && { title: name }),
		...writeCacheMark(cacheMark),
	};
}

function documentSource(source: MediaSource): JsonObject {
	switch (source.kind) {
		case 'link':
			return { type: 'url', url: source.url };
		case 'data':
			if (source.mediaType === 'application/pdf') return { type: 'base64', media_type: source.mediaType, data: source.base64() };
			if (source.mediaType?.startsWith('text/') !== true) return rejectFile(source.at.path);
			return { type: 'text', media_type: 'text/plain', data: Buffer.from(source.base64(), 'base64').toString('utf8') };
		case 'invalid':
			return rejectFile(source.at.path);
		case 'foreign':
			return rejectField(source.at.path, source.cure);
	}
}

function rejectFile(path: string): never {
	return rejectField(path, 'must be a data URL in base64 of type application/pdf or text');
}
