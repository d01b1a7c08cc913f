import { type FeatureName, featureNames } from './features.ts';

export interface MatrixCell {
	readonly program: string;
	readonly model: string;
	readonly feature: FeatureName;
	readonly result: 'ok' | 'failed';
	/** Reason of a failure. */
	readonly reason: string | null;
}

/** Reason of a failure for an endpoint that the gateway does not have yet. */
export function notServed(endpoint: string): string {
	return `the gateway does not serve ${endpoint}`;
}

/** Formats one line for each program and model, and the reasons of failures below. A feature that a program does not have is `-`. */
export function renderMatrix(cells: readonly MatrixCell[]): string {
	const rows = new Map<string, Map<FeatureName, MatrixCell>>();
	for (const cell of cells) {
		const key = `${cell.program}\t${cell.model}`;
		rows.set(key, (rows.get(key) ?? new Map<FeatureName, MatrixCell>()).set(cell.feature, cell));
	}
	const table = [
		['program', 'model', ...featureNames],
		...[...rows].map(([key, row]) => [...key.split('\t'), ...featureNames.map((feature) => row.get(feature)?.result ?? '-')]),
	];
	const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
	const lines = table.map((row) =>
		row
			.map((text, column) => text.padEnd(widths[column] ?? 0))
			.join('  ')
			.trimEnd(),
	);
	const failures = cells.filter(({ result }) => result === 'failed');
	const reasons = failures.map(({ program, model, feature, reason }) => `failed: ${program}, ${model}, ${feature}: ${reason}`);
	return `${[...lines, '', ...reasons, `${cells.length - failures.length} ok, ${failures.length} failed`].join('\n')}\n`;
}
