import { fitName, longestToolName } from '../fit-name.ts';

/** A tool's name as Gemini takes it: as others do, but it begins with a letter or `_`. */
export function geminiToolName(name: string): string {
	if (/^[a-zA-Z_][a-zA-Z0-9_.:-]*$/.test(name) && name.length <= longestToolName) return name;
	const fitted = fitName(name, longestToolName - 1);
	return /^[a-zA-Z_]/.test(fitted) ? fitted : `_${fitted}`;
}

/** How a tool is named to the caller, given its name at the provider. @param names those that the caller offered. */
export function callersToolNames(names: readonly string[]): (name: string) => string {
	const changed = new Map(names.map((name) => [geminiToolName(name), name]));
	return (name) => changed.get(name) ?? name;
}
