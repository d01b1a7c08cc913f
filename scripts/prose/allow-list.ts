import type { Finding, RuleName } from './findings.ts';

/** Number of findings of each rule that a file may still have, by path. */
export type AllowList = Readonly<Record<string, Partial<Record<RuleName, number>>>>;

export interface Comparison {
	/** Findings of each file and rule that exceed the allowance. */
	readonly excess: readonly {
		readonly file: string;
		readonly rule: RuleName;
		readonly allowed: number;
		readonly findings: readonly Finding[];
	}[];
	/** True if the list allows more findings than exist. */
	readonly canShrink: boolean;
	/** The list lowered to the number of findings; no entry is higher. */
	readonly shrunk: AllowList;
}

/**
 * Compares findings with the list. A file that the list does not name takes the allowance of files that no longer exist. So a page or a
 * source can be moved or split. The sum for each rule never grows.
 */
export function compare(findings: readonly Finding[], allowed: AllowList, exists: (file: string) => boolean): Comparison {
	const remaining = new Map<RuleName, number>();
	for (const [file, rules] of Object.entries(allowed)) {
		if (exists(file)) continue;
		for (const [rule, count] of entries(rules)) remaining.set(rule, (remaining.get(rule) ?? 0) + count);
	}
	const groups = Object.groupBy(findings, ({ file, rule }) => `${file}\n${rule}`);
	const shrunk: Record<string, Partial<Record<RuleName, number>>> = {};
	const excess: Comparison['excess'][number][] = [];
	for (const group of Object.values(groups)) {
		const [first] = group ?? [];
		if (first === undefined || group === undefined) continue;
		const { file, rule } = first;
		const own = allowed[file];
		const limit = own === undefined ? (remaining.get(rule) ?? 0) : (own[rule] ?? 0);
		const kept = Math.min(limit, group.length);
		if (own === undefined) remaining.set(rule, limit - kept);
		if (group.length > limit) excess.push({ file, rule, allowed: limit, findings: group });
		if (kept > 0) (shrunk[file] ??= {})[rule] = kept;
	}
	return { excess, canShrink: serialize(shrunk) !== serialize(allowed), shrunk };
}

/** Rules of which `list` allows more findings than the list before it, in all files together. */
export function findGrowth(list: AllowList, before: AllowList): RuleName[] {
	const sums = sumByRule(before);
	return [...sumByRule(list)].filter(([rule, sum]) => sum > (sums.get(rule) ?? 0)).map(([rule]) => rule);
}

function sumByRule(list: AllowList): Map<RuleName, number> {
	const sums = new Map<RuleName, number>();
	for (const rules of Object.values(list)) {
		for (const [rule, count] of entries(rules)) sums.set(rule, (sums.get(rule) ?? 0) + count);
	}
	return sums;
}

/** One line for each file, sorted, so that branches merge. */
export function serialize(list: AllowList): string {
	const lines = Object.keys(list)
		.toSorted()
		.map((file) => {
			const rules = entries(list[file] ?? {}).toSorted(([left], [right]) => left.localeCompare(right));
			return `\t${JSON.stringify(file)}: ${JSON.stringify(Object.fromEntries(rules))}`;
		});
	return `{\n${lines.join(',\n')}\n}\n`;
}

function entries(rules: Partial<Record<RuleName, number>>): [RuleName, number][] {
	return Object.entries(rules) as [RuleName, number][];
}
