import { extname } from 'node:path';
import { readComments } from './comments.ts';
import { identifiers, phrases, publicNames } from './glossary.ts';
import { findRetiredIdentifiers } from './identifiers.ts';
import { type MarkdownFile, readMarkdown } from './markdown.ts';
import { countWords, lineAt, type Passage, type Sentence, sentencesOf } from './passage.ts';
import { readTitles } from './titles.ts';

export type RuleName = 'phrase' | 'sentence' | 'headless' | 'line' | 'length' | 'name' | 'link';

export interface Finding {
	readonly file: string;
	readonly line: number;
	readonly rule: RuleName;
	/** Offending text, and what to do about it. */
	readonly found: string;
	readonly write: string;
}

const maxSentenceWords = 35;
const maxLineLength = 100;
const maxGuideWords = 1200;
const maxArchitectureLines = 250;
const maxVersionLines = 100;

/** Folders of task-oriented pages. */
export const guideFolders = /^docs\/(?:start|guide|operations)\//;

type Find = (line: number, rule: RuleName, found: string, write: string) => void;

/** Finds breaches of the language rules in a file. `file` is its path from the root of the repository. */
export function findInFile(file: string, text: string): Finding[] {
	const findings: Finding[] = [];
	const find: Find = (line, rule, found, write) => findings.push({ file, line, rule, found, write });
	if (extname(file) === '.md') checkPage(file, text, find);
	else checkSource(file, text, find);
	return findings.toSorted((left, right) => left.line - right.line);
}

function checkPage(file: string, text: string, find: Find): void {
	const page = readMarkdown(text);
	for (const passage of page.passages) checkPassage(passage, find);
	checkLines(page, text.split('\n'), find);
	checkLength(file, text, page, find);
	for (const { pattern, write } of publicNames) {
		for (const { 0: name, index } of text.matchAll(pattern)) find(text.slice(0, index).split('\n').length, 'name', name, write);
	}
}

function checkSource(file: string, text: string, find: Find): void {
	for (const passages of readComments(file, text)) for (const passage of passages) checkPassage(passage, find);
	if (extname(file) !== '.ts') return;
	for (const title of readTitles(file, text)) checkPhrases(title, find);
	for (const { name, line, write } of findRetiredIdentifiers(file, text, identifiers)) find(line, 'name', name, write);
	if (/\btold\b/.test(file)) find(1, 'name', file, 'a file name with "reported" or "parsed"');
}

function checkPhrases(passage: Passage, find: Find): void {
	for (const { pattern, write } of phrases) {
		for (const { 0: phrase, index } of passage.text.matchAll(pattern)) find(lineAt(passage, index), 'phrase', phrase, write);
	}
}

function checkPassage(passage: Passage, find: Find): void {
	checkPhrases(passage, find);
	for (const sentence of sentencesOf(passage)) {
		if (sentence.wordCount > maxSentenceWords) {
			find(
				sentence.line,
				'sentence',
				`${sentence.wordCount} words: ${opening(sentence)}`,
				`at most ${maxSentenceWords} words, one fact each`,
			);
		}
		if (isHeadless(sentence, passage.kind)) {
			find(sentence.line, 'headless', opening(sentence), 'a sentence that begins by naming the thing');
		}
	}
}

const question = /[?][*)"”’]*$/;
const headless =
	/^(?:(?:of|to|by|from|in|for|with|at|on) (?:what|whom|which|whose)|what(?:ever)?|who(?:ever|m|se)?|which(?:ever)?|so (?:much|many|far|long)|as (?:much|many|far)|how|whether|why)(?![\w-])/i;
/** Subordinate clause without a main clause after it. */
const subordinate = /^(?:when|where|wherever)(?![\w-])[^,:—]*$/i;

/** Detects a sentence that begins with a clause in place of a noun. Questions are spared, and headings such as "How it works" or "When Redis is unavailable". */
export function isHeadless({ text }: Sentence, kind: Passage['kind']): boolean {
	const bare = text.replace(/^[^\p{L}`]+/u, '');
	if (question.test(bare) || (kind === 'heading' && /^(?:how|why|what|when)\b/i.test(bare))) return false;
	// Header of a column.
	if (kind === 'cell' && !bare.includes(' ')) return false;
	return headless.test(bare) || subordinate.test(bare);
}

function opening({ text }: Sentence): string {
	const words = text.split(' ');
	return words.length <= 9 ? text : `${words.slice(0, 8).join(' ')} …`;
}

function checkLines({ proseLines }: MarkdownFile, lines: readonly string[], find: Find): void {
	for (const line of new Set(proseLines)) {
		// URLs, which cannot be wrapped.
		const text = (lines[line - 1] ?? '').replaceAll(/\]\([^)\s]*\)|https?:\/\/\S+/g, '');
		if (text.length > maxLineLength) find(line, 'line', `${text.length} characters`, `at most ${maxLineLength}`);
	}
}

function checkLength(file: string, text: string, page: MarkdownFile, find: Find): void {
	if (guideFolders.test(file)) {
		const count = countPageWords(page);
		if (count > maxGuideWords) find(1, 'length', `a guide of ${count} words`, `at most ${maxGuideWords}; internals go to Concepts`);
	}
	const lineCount = text.trimEnd().split('\n').length;
	if (file === 'ARCHITECTURE.md' && lineCount > maxArchitectureLines) {
		find(1, 'length', `${lineCount} lines`, `at most ${maxArchitectureLines}`);
	}
	if (file !== 'CHANGELOG.md') return;
	const starts = page.headings.filter(({ level }) => level === 2).map(({ line }) => line);
	for (const [index, start] of starts.entries()) {
		const count = (starts[index + 1] ?? lineCount + 1) - start;
		if (count > maxVersionLines) find(start, 'length', `a version of ${count} lines`, `at most ${maxVersionLines}`);
	}
}

export function countPageWords({ passages }: MarkdownFile): number {
	return passages.reduce((sum, { text }) => sum + countWords(text), 0);
}
