import type { Capability, ContentPart, FilePart, MediaSource, TextPart } from '../../conversation/conversation.ts';
import { cacheMarkOf } from '../../conversation/extensions.ts';
import { isBlank, isTrue, type JsonView, requireObject, requireText, visibleTextIn } from '../../conversation/json-view.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';

/** Reads blocks that a user, a tool or a document may hold. Texts that show nothing are left out. */
export class BlockReader {
	readonly #takes: ReadonlySet<Capability>;
	readonly #warnings: RequestWarnings;

	constructor(takes: ReadonlySet<Capability>, warnings: RequestWarnings) {
		this.#takes = takes;
		this.#warnings = warnings;
	}

	/** A string, or a list of blocks. @throws Refusal `field_invalid`. */
	content(content: JsonView): readonly ContentPart[] {
		return blocksOf(content).flatMap((block) => this.block(block));
	}

	/** @throws Refusal `field_invalid`. */
	block(block: JsonView): readonly ContentPart[] {
		if (block.kind === 'string') return textPart(block, requireText(block));
		const type = block.member('type');
		switch (type.text()) {
			case 'text':
				return textPart(block, requireText(block.member('text')));
			case 'image':
				return [{ type: 'image', at: block, source: imageSource(requireObject(block.member('source'))), cacheMark: cacheMarkOf(block) }];
			case 'document':
				return this.#document(block, requireObject(block.member('source')));
			case 'search_result': {
				const texts = block
					.member('content')
					.items()
					.map((inner) => inner.member('text'));
				return textPart(block, joinVisible([block.member('title'), block.member('source'), ...texts]));
			}
			case 'tool_reference':
				return textPart(block, requireText(block.member('tool_name')));
			default:
				return [{ type: 'opaque', at: type, text: undefined, cure: noEquivalent }];
		}
	}

	#document(block: JsonView, source: JsonView): readonly ContentPart[] {
		if (isTrue(block.member('citations').member('enabled'))) this.#warnings.add('citations', 'ignored');
		const [title, context] = [block.member('title'), block.member('context')];
		const heading = joinVisible([title, context]);
		const type = source.member('type');
		switch (type.text()) {
			case 'base64': {
				const mediaType = source.member('media_type');
				if (mediaType.text() !== 'application/pdf') rejectField(mediaType.path, 'must be `application/pdf`');
				return [filePart(block, dataSource(source))];
			}
			case 'text': {
				const text = requireText(source.member('data'));
				return textPart(block, heading === '' ? text : `${heading}\n${text}`);
			}
			case 'content':
				return [...textPart(block, heading), ...this.content(source.member('content'))];
			case 'url':
				return [filePart(block, this.#takes.has('fileLinks') ? linkSource(source) : this.#foreignDocument(type))];
			default:
				return [filePart(block, this.#foreignDocument(type))];
		}
	}

	#foreignDocument(at: JsonView): MediaSource {
		const known = this.#takes.has('fileLinks') ? '`base64`, `url`, `text` or `content`' : '`base64`, `text` or `content`';
		return { kind: 'foreign', at, cure: `must be ${known}: send the document itself` };
	}
}

export const noEquivalent = 'names a kind of block that the model’s provider has no equivalent for: leave it out';

/** The blocks of a list; a string is a block of text by itself. @throws Refusal `field_invalid`. */
export function blocksOf(content: JsonView): readonly JsonView[] {
	if (content.kind === 'string') return [content];
	if (content.kind !== 'array') return rejectField(content.path, 'must be a string or an array');
	return content.items().map(requireObject);
}

/** Instructions, which can be nothing but text. @throws Refusal `field_invalid`. */
export function readTexts(content: JsonView): readonly TextPart[] {
	return blocksOf(content).flatMap((block) => {
		if (block.kind === 'string') return textPart(block, requireText(block));
		if (block.member('type').text() !== 'text') rejectField(`${block.path}.type`, 'must be `text`');
		return textPart(block, requireText(block.member('text')));
	});
}

function textPart(block: JsonView, text: string): readonly TextPart[] {
	return isBlank(text) ? [] : [{ type: 'text', at: block, text, cacheMark: cacheMarkOf(block) }];
}

function filePart(block: JsonView, source: MediaSource): FilePart {
	const [title, context] = [visibleTextIn(block.member('title')), visibleTextIn(block.member('context'))];
	return { type: 'file', at: block, source, filename: undefined, title, context, cacheMark: cacheMarkOf(block) };
}

function imageSource(source: JsonView): MediaSource {
	const type = source.member('type');
	switch (type.text()) {
		case 'url':
			return linkSource(source);
		case 'base64':
			return dataSource(source);
		default:
			return { kind: 'foreign', at: type, cure: 'must be `base64` or `url`: files of the other vendor cannot be read' };
	}
}

function linkSource(source: JsonView): MediaSource {
	return { kind: 'link', at: source.member('type'), url: requireText(source.member('url')) };
}

function dataSource(source: JsonView): MediaSource {
	const at = source.member('media_type');
	return { kind: 'data', at, mediaType: at.text(), base64: () => requireText(source.member('data')) };
}

function joinVisible(texts: readonly JsonView[]): string {
	return texts.flatMap((text) => visibleTextIn(text) ?? []).join('\n');
}
