import { styleText } from 'node:util';
import type { CliEnvironment } from './environment.ts';

/** Formats left-aligned columns with two spaces between them and no trailing blanks. `hasStyle` makes the heading bold. */
export function formatTable(heading: readonly string[], rows: readonly (readonly string[])[], hasStyle: boolean): string {
	// Control characters are replaced, because a name may contain terminal escape sequences.
	const rendered = rows.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, '\u{fffd}')));
	const widths = heading.map((title, column) => Math.max(title.length, ...rendered.map((row) => row[column]?.length ?? 0)));
	const format = (cells: readonly string[]): string =>
		cells
			.map((cell, column) => cell.padEnd(widths[column] ?? 0))
			.join('  ')
			.trimEnd();
	const first = format(heading);
	const lines = [hasStyle ? styleText('bold', first, { validateStream: false }) : first, ...rendered.map(format)];
	return `${lines.join('\n')}\n`;
}

/** Allows styles on a terminal, unless the user disables them (https://no-color.org). */
export function canStyle({ stdout, env }: CliEnvironment): boolean {
	return stdout.isTty && !env['NO_COLOR'];
}
