import { parseSync, Visitor } from 'oxc-parser';
import type { RetiredTerm } from './glossary.ts';

export interface FoundIdentifier {
	readonly name: string;
	readonly line: number;
	readonly write: string;
}

/** Identifiers of a source that a retired term matches, each name once, at its first use. */
export function findRetiredIdentifiers(path: string, source: string, retired: readonly RetiredTerm[]): FoundIdentifier[] {
	const found = new Map<string, FoundIdentifier>();
	// Parses only the few files that contain a candidate.
	const candidates = new Set((source.match(/[A-Za-z_$][\w$]*/g) ?? []).filter((name) => retired.some(({ pattern }) => pattern.test(name))));
	if (candidates.size === 0) return [];
	const note = ({ name, start }: { name: string; start: number }): void => {
		const write = candidates.has(name) ? retired.find(({ pattern }) => pattern.test(name))?.write : undefined;
		if (write === undefined || found.has(name)) return;
		found.set(name, { name, line: source.slice(0, start).split('\n').length, write });
	};
	new Visitor({ Identifier: note, PrivateIdentifier: note }).visit(parseSync(path, source).program);
	return [...found.values()];
}
