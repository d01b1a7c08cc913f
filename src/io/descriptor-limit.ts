import { readFileSync } from 'node:fs';

/** How many files and sockets the system lets the process open; undefined where it sets no limit, or is not Linux. */
export function readDescriptorLimit(): number | undefined {
	try {
		return parseDescriptorLimit(readFileSync('/proc/self/limits', 'utf8'));
	} catch {
		return undefined;
	}
}

/** @param text of `/proc/self/limits`. */
export function parseDescriptorLimit(text: string): number | undefined {
	const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
	return soft === undefined ? undefined : Number(soft);
}
