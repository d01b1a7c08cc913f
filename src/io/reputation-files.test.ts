import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { eventually } from '../../test/support/product.ts';
import { createRecordingLog, type RecordingLog } from '../../test/support/recording-log.ts';
import { sourceKey } from '../policy/firewall/source-key.ts';
import { ReputationFileError, ReputationFiles } from './reputation-files.ts';

let directory: string;
let clock: ManualClock;
let log: RecordingLog;
let files: ReputationFiles | undefined;

beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), 'tollgate-lists-'));
	clock = new ManualClock();
	log = createRecordingLog();
});
afterEach(() => {
	files?.stop();
	files = undefined;
	rmSync(directory, { recursive: true, force: true });
});

function start(file: string): ReputationFiles {
	files = new ReputationFiles([{ file, name: 'drop', action: 'block' }], { clock, log });
	files.start();
	return files;
}

const isListed = (address: string): boolean | undefined => files?.entries[0]?.ranges.includes(sourceKey(address), address);

/** Waits for a change to be seen twice and read. */
async function untilLogged(event: string): Promise<void> {
	const before = log.lines.length;
	clock.advance(500);
	clock.advance(500);
	await eventually(event, () => log.lines.slice(before).find((line) => line.event === event));
}

describe('a list', () => {
	test('is in force from the start, and a changed one soon', async () => {
		const file = join(directory, 'drop.txt');
		writeFileSync(file, '198.51.100.0/24\n');
		start(file);
		expect([isListed('198.51.100.1'), isListed('203.0.113.1')]).toEqual([true, false]);
		writeFileSync(`${file}.new`, `${'# comment\n'.repeat(3000)}203.0.113.0/24\n`);
		renameSync(`${file}.new`, file);
		await untilLogged('reputation list loaded');
		expect([isListed('198.51.100.1'), isListed('203.0.113.1')]).toEqual([false, true]);
	});

	test('is read from the current target of a symbolic link, as in a ConfigMap', async () => {
		for (const [version, range] of [
			['one', '198.51.100.0/24'],
			['two', '203.0.113.0/24'],
		] as const) {
			mkdirSync(join(directory, version));
			writeFileSync(join(directory, version, 'drop.txt'), `${range}\n`);
		}
		symlinkSync('one', join(directory, 'current'));
		start(join(directory, 'current', 'drop.txt'));
		symlinkSync('two', join(directory, 'next'));
		renameSync(join(directory, 'next'), join(directory, 'current'));
		await untilLogged('reputation list loaded');
		expect(isListed('203.0.113.1')).toBe(true);
	});

	test.each([
		['malformed', '198.51.100.0/24\n<html>\n', 2, '`<html>` is neither an address nor a range'],
		['empty', '', 0, 'contains no address or range'],
	])('that is %s is rejected with line and reason, and the former one stays', async (_what, text, line, reason) => {
		const file = join(directory, 'drop.txt');
		writeFileSync(file, '198.51.100.0/24\n');
		start(file);
		writeFileSync(file, text);
		await untilLogged('reputation list rejected, the previous one stays active');
		expect(log.lines.at(-1)).toMatchObject({ level: 'error', fields: { list: 'drop', file, line, reason } });
		expect(isListed('198.51.100.1')).toBe(true);
	});

	test('that is missing is reported, and the earlier one stays until it is back', async () => {
		const file = join(directory, 'drop.txt');
		writeFileSync(file, '198.51.100.0/24\n');
		start(file);
		unlinkSync(file);
		await untilLogged('reputation list rejected, the previous one stays active');
		expect(log.lines.at(-1)?.fields).toMatchObject({ reason: 'cannot be read (ENOENT)' });
		expect(isListed('198.51.100.1')).toBe(true);
		writeFileSync(file, '203.0.113.0/24\n');
		await untilLogged('reputation list loaded');
		expect(isListed('203.0.113.1')).toBe(true);
	});

	test('with private ranges is warned about', () => {
		const file = join(directory, 'drop.txt');
		writeFileSync(file, '# level 1\n10.0.0.0/8\n127.0.0.0/8\n');
		start(file);
		expect(log.lines.at(-1)).toMatchObject({ level: 'warn', fields: { list: 'drop', line: 2, range: '10.0.0.0/8', ranges: 2 } });
	});
});

test('at the start, an invalid list is an error with its line', () => {
	const file = join(directory, 'drop.txt');
	writeFileSync(file, '198.51.100.0/24\nnonsense\n');
	expect(() => start(file)).toThrow(ReputationFileError);
	expect(() => start(join(directory, 'nowhere'))).toThrow('cannot be read (ENOENT)');
	expect(() => start(directory)).toThrow('is not a regular file');
});
