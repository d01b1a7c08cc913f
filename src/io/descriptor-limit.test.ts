import { expect, test } from 'vitest';
import { parseDescriptorLimit } from './descriptor-limit.ts';

const textWith = (soft: string): string =>
	`Limit                     Soft Limit           Hard Limit           Units\nMax processes             63321                63321                processes\nMax open files            ${soft.padEnd(21)}unlimited            files\n`;

test.each([
	[textWith('256'), 256],
	[textWith('1048576'), 1_048_576],
	[textWith('unlimited'), undefined],
	['', undefined],
])('the soft limit counts: %#', (text, limit) => {
	expect(parseDescriptorLimit(text)).toBe(limit);
});
