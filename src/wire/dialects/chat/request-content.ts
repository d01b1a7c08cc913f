import type { ContentPart, FilePart, MediaSource } from '../../conversation/conversation.ts';
import { rejectField } from '../../conversation/reject-field.ts';

/** A part of a chat message's content. */
export type ChatPart =
	| { readonly type: 'text'; readonly text: string }
	| { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
	| { readonly type: 'file'; readonly file: { readonly filename: string; readonly file_data: string } };

const imageTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/** @throws Refusal `field_invalid` for a part without equivalent. */
export function writePart(part: ContentPart): readonly ChatPart[] {
	switch (part.type) {
		case 'text':
			return [{ type: 'text', text: part.text }];
		case 'image':
			return [{ type: 'image_url', image_url: { url: imageUrl(part.source) } }];
		case 'audio':
			return rejectField(part.at.path, 'cannot be passed on to the model’s provider: send its transcript');
		case 'file':
			return fileParts(part);
		case 'opaque':
			return rejectField(part.at.path, part.cure);
	}
}

/** Content as short as it can be said: one text is a string, and so are several where parts may not be taken. */
export function contentOf(parts: readonly ChatPart[], takesTextParts: boolean): string | readonly ChatPart[] {
	const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
	if (texts.length < parts.length) return parts;
	return takesTextParts && texts.length > 1 ? parts : texts.join('\n');
}

function imageUrl(source: MediaSource): string {
	switch (source.kind) {
		case 'link':
			return source.url;
		case 'data': {
			const { mediaType } = source;
			if (mediaType !== undefined && imageTypes.includes(mediaType)) return dataUrl(mediaType, source.base64());
			return rejectField(source.at.path, `must be one of \`${imageTypes.join('`, `')}\``);
		}
		case 'invalid':
			return rejectField(source.at.path, 'must be an address or data in base64');
		case 'foreign':
			return rejectField(source.at.path, source.cure);
	}
}

function fileParts({ source, filename, title, context }: FilePart): readonly ChatPart[] {
	switch (source.kind) {
		case 'data': {
			const name = filename ?? (title === undefined ? 'document.pdf' : `${title.replace(/\.pdf$/i, '')}.pdf`);
			const file: ChatPart = {
				type: 'file',
				file: { filename: name, file_data: dataUrl(source.mediaType ?? 'application/pdf', source.base64()) },
			};
			return context === undefined ? [file] : [{ type: 'text', text: context }, file];
		}
		case 'link':
		case 'invalid':
			return rejectField(source.at.path, 'must be the file itself in base64');
		case 'foreign':
			return rejectField(source.at.path, source.cure);
	}
}

function dataUrl(mediaType: string, base64: string): string {
	return `data:${mediaType};base64,${base64}`;
}
