import { fitName, longestToolName } from '../../conversation/fit-name.ts';

/** A tool's name as Gemini takes it: as others do, but it begins with a letter or `_`. */
export function geminiToolName(name: string): string {
	if (/^[a-zA-Z_][a-zA-Z0-9_.:-]*$/.test(name) && name.length <= longestToolName) return name;
	const fitted = fitName(name, longestToolName - 1);
	return /^[a-zA-Z_]/.test(fitted) ? fitted : `_${fitted}`;
}
