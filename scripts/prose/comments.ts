import { extname } from 'node:path';
import { type Comment, parseSync } from 'oxc-parser';
import { readMarkdown } from './markdown.ts';
import type { Passage } from './passage.ts';

interface CommentLine {
	readonly line: number;
	readonly text: string;
}

/** Instructions for tools, which are not prose. */
const directive = /^\s*(?:@ts-|@vite|[#!/]|v8 ignore|SPDX-)/;

/** Markers of comments in languages without block comments. */
const lineMarkers: Readonly<Record<string, string>> = { '.sql': '--', '.lua': '--', '.yaml': '#', '.conf': '#', '.cfg': '#' };

/** Comments of a source file, each as its passages. */
export function readComments(path: string, source: string): Passage[][] {
	const marker = lineMarkers[extname(path)];
	const comments = marker === undefined ? scriptComments(path, source) : markedComments(marker, source);
	return comments.map(readComment).filter((passages) => passages.length > 0);
}

/** A comment is read as Markdown, so that its code spans, code blocks and lists are known. */
function readComment(lines: readonly CommentLine[]): Passage[] {
	const spaced: CommentLine[] = [];
	for (const { line, text } of lines) {
		const tag = /^\s*@\w+(?:\s+\{[^}]*\})?(?:\s+[\w.[\]]+\s+-)?\s*/.exec(text);
		// A tag begins a passage of its own.
		if (tag !== null) spaced.push({ line, text: '' });
		spaced.push({ line, text: tag === null ? text : text.slice(tag[0].length) });
	}
	const { passages } = readMarkdown(spaced.map(({ text }) => text).join('\n'));
	return passages
		.filter(({ text }) => /\p{L}/u.test(text))
		.map((passage) => ({ ...passage, lines: passage.lines.map((one) => ({ ...one, line: spaced[one.line - 1]?.line ?? 1 })) }));
}

function scriptComments(path: string, source: string): CommentLine[][] {
	const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
	const lineOf = createLineFinder(lineStarts);
	const comments: CommentLine[][] = [];
	let previous: Comment | undefined;
	for (const comment of parseSync(path, source).comments) {
		const line = lineOf(comment.start);
		if (comment.type === 'Block') {
			if (!directive.test(comment.value.replace(/^\*/, ''))) comments.push(blockLines(comment.value, line));
			previous = undefined;
			continue;
		}
		if (directive.test(comment.value)) continue;
		const isAlone = source.slice(lineStarts[line - 1], comment.start).trim() === '';
		const isContinued =
			isAlone && previous !== undefined && /^\s*$/.test(source.slice(previous.end, comment.start)) && lineOf(previous.end) === line - 1;
		const text = comment.value.replace(/^ /, '');
		if (isContinued) comments.at(-1)?.push({ line, text });
		else comments.push([{ line, text }]);
		previous = isAlone ? comment : undefined;
	}
	return comments;
}

function blockLines(value: string, firstLine: number): CommentLine[] {
	const lines = value.replace(/^\*/, '').split('\n');
	return lines.map((text, index) => ({ line: firstLine + index, text: text.replace(/^\s*\* ?|^ /, '') }));
}

/** Offsets must come in ascending order. */
function createLineFinder(lineStarts: readonly number[]): (offset: number) => number {
	let line = 1;
	return (offset) => {
		while ((lineStarts[line] ?? Infinity) <= offset) line += 1;
		return line;
	};
}

/** Setting that is commented out, which is not prose. */
const setting = /^\s*# ?\s*(?:- )?[\w."-]+:(?:\s|$)/;

function markedComments(marker: string, source: string): CommentLine[][] {
	const comments: CommentLine[][] = [];
	const pattern = new RegExp(`^(\\s*|.*\\s)${marker} ?(.*)$`);
	let isContinued = false;
	for (const [index, text] of source.split('\n').entries()) {
		const match = pattern.exec(text);
		const isAlone = match?.[1]?.trim() === '';
		const found = { line: index + 1, text: setting.test(text) ? '' : (match?.[2] ?? '') };
		if (match !== null && isAlone && isContinued) comments.at(-1)?.push(found);
		else if (match !== null) comments.push([found]);
		isContinued = isAlone;
	}
	return comments;
}
