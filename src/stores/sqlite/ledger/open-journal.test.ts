import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { requireProgram } from '../../../../test/support/system-programs.ts';
import { until } from '../../../../test/support/until.ts';
import { openEntry } from '../../contracts/ledger.contract.ts';
import type { OpenEntry } from '../../contracts/ledger.ts';
import type { Durability } from '../open-database.ts';
import { lineOf } from './compact-entries.ts';
import { OpenJournal, readStaleJournals } from './open-journal.ts';

const run = '0123456789abcdef';
const tickBytes = 1 << 20;
const line = (id: string, differences: Partial<OpenEntry> = {}): string => lineOf(openEntry(id, differences));
/** Lines of which a few fill a file. */
const longLine = (id: string): string => line(id, { budgets: ['b'.repeat(tickBytes / 4)] });

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the two files', () => {
	test('are for their owner only, and gone after an end that left nothing', async () => {
		const { dataDir, journal } = setUp();
		journal.append(line('a'));
		journal.forget(1);
		expect(readdirSync(dataDir)).toEqual([`ledger-run-${run}.0.journal`, `ledger-run-${run}.1.journal`]);
		expect(readdirSync(dataDir).map((name) => statSync(join(dataDir, name)).mode & 0o777)).toEqual([0o600, 0o600]);
		await journal.end();
		expect(readdirSync(dataDir)).toEqual([]);
	});

	test('stay after an end that left lines, and are gone once those are taken over', async () => {
		const { dataDir, journal } = setUp();
		for (const id of ['a', 'b', 'c']) journal.append(line(id));
		journal.forget(2);
		await journal.end();
		expect(readdirSync(dataDir)).toHaveLength(2);
		const [remaining] = readStaleJournals(dataDir, () => false);
		// The database itself determines which lines it has.
		expect([remaining?.run, remaining?.opens.map(([id]) => id)]).toEqual([run, ['a', 'b', 'c']]);
		remaining?.remove();
		remaining?.remove();
		expect(readdirSync(dataDir)).toEqual([]);
	});

	test('alternate at a megabyte; one is emptied when all of it is forgotten, and never sooner', async () => {
		const { sizes, journal, remainingIds, emptied } = setUp();
		for (const id of ['a', 'b', 'c', 'd']) journal.append(longLine(id));
		const [full] = sizes();
		expect([full > tickBytes, sizes()[1]]).toEqual([true, 0]);
		for (const id of ['e', 'f']) journal.append(longLine(id));
		expect(sizes()).toEqual([full, expect.closeTo(full / 2, -1)]);
		journal.forget(3);
		await someTime();
		expect(sizes()[0]).toBe(full);
		expect(remainingIds()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
		journal.forget(2);
		await emptied(0);
		expect(remainingIds()).toEqual(['e', 'f']);
		for (const id of ['g', 'h', 'i', 'j']) journal.append(longLine(id));
		expect(remainingIds()).toEqual(['e', 'f', 'g', 'h', 'i', 'j']);
		// The emptied file is the newer one now.
		expect(sizes()[0]).toBeGreaterThan(0);
		journal.forget(1);
		await someTime();
		expect(remainingIds()).toEqual(['e', 'f', 'g', 'h', 'i', 'j']);
		journal.forget(3);
		await emptied(1);
		expect(remainingIds()).toEqual(['i', 'j']);
	});

	test('of which the older has lines still: the newer grows, and nothing is lost', async () => {
		const { journal, remainingIds } = setUp();
		const ids = Array.from({ length: 14 }, (_, index) => `${index}`);
		for (const id of ids) journal.append(longLine(id));
		expect(remainingIds()).toEqual(ids);
		journal.forget(14);
		await someTime();
		journal.append(line('last'));
		expect(remainingIds()).toContain('last');
	});

	test('that cannot be emptied at first is emptied at the next turn', async () => {
		const { journal, sizes, emptied } = setUp();
		// All lines of the file are forgotten before it is full.
		for (const id of ['a', 'b', 'c', 'd']) journal.append(longLine(id));
		journal.forget(4);
		await someTime();
		expect(sizes()[0]).toBeGreaterThan(tickBytes);
		journal.append(line('e'));
		await emptied(0);
		expect(sizes()[1]).toBeGreaterThan(0);
	});

	test.each(['process', 'power'] as const)('stay small under a long stream, with durability %s', async (durability) => {
		const { journal, sizes } = setUp(durability);
		let waiting = 0;
		const forgotten: Promise<void>[] = [];
		// Opens arrive while syncs run, as they do under load.
		for (let round = 0; round < 400; round++) {
			journal.append(longLine('x'));
			waiting += 1;
			forgotten.push(
				journal.whenSafe().then(() => {
					journal.forget(1);
					waiting -= 1;
				}),
			);
			await nextTick();
			// Allows for a busy machine to empty a file.
			await until(() => waiting <= 8 && sizes()[0] + sizes()[1] < 12 * tickBytes, 'room');
		}
		await Promise.all(forgotten);
		expect(sizes()[0] + sizes()[1]).toBeLessThan(13 * tickBytes);
	});

	test('that end while one is being emptied take no other file with them', async () => {
		const { dataDir, journal } = setUp();
		for (const id of ['a', 'b', 'c', 'd', 'e']) journal.append(longLine(id));
		// Keeps the threads that empty files busy.
		const busy = Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => promisify(pbkdf2)('a', 'b', 100_000, 64, 'sha512')));
		journal.forget(5);
		await journal.end();
		const others = Array.from({ length: 8 }, (_, index) => {
			const path = join(dataDir, `other-${index}`);
			writeFileSync(path, 'somebody’s');
			const descriptor = openSync(path, 'r+');
			onTestFinished(() => closeSync(descriptor));
			return path;
		});
		await busy;
		await someTime();
		expect(others.map((path) => readFileSync(path, 'utf8'))).toEqual(others.map(() => 'somebody’s'));
	});
});

describe('what is left', () => {
	test('is in the order in which it was opened, whichever file has the later turn', async () => {
		const { journal, dataDir, remainingIds, emptied } = setUp();
		const targets = (): string[] =>
			readStaleJournals(dataDir, () => false).flatMap(({ opens }) => opens.filter(([id]) => id === 'moved').map(([, , , , name]) => name));
		journal.append(line('moved', { provider: 'first' }));
		for (const id of ['a', 'b', 'c', 'd']) journal.append(longLine(id));
		journal.append(line('moved', { provider: 'second' }));
		expect(targets()).toEqual(['first', 'second']);
		journal.forget(5);
		await emptied(0);
		for (const id of ['e', 'f', 'g', 'h', 'i']) journal.append(longLine(id));
		journal.append(line('moved', { provider: 'third' }));
		expect(targets()).toEqual(['second', 'third']);
		expect(remainingIds()).toEqual(['moved', 'e', 'f', 'g', 'h', 'i', 'moved']);
	});

	test('past the ninth turn is still in order', async () => {
		const { journal, remainingIds, emptied } = setUp();
		// Each generation begins with its fifth line, in the other file.
		for (let turn = 1; turn < 10; turn++) {
			for (const id of ['a', 'b', 'c', 'd', 'e'].slice(turn === 1 ? 0 : 1)) journal.append(longLine(`${id}${turn}`));
			if (turn === 9) break;
			journal.forget(4);
			await emptied(turn % 2 === 1 ? 0 : 1);
		}
		expect(remainingIds()).toEqual(['e8', 'b9', 'c9', 'd9', 'e9']);
	});

	test('of a live run is skipped; stale runs are read separately', async () => {
		const dataDir = temporaryDirectory();
		for (const name of ['aa', 'bb', 'cc']) {
			const journal = new OpenJournal(dataDir, name, 'process');
			journal.append(line(`of ${name}`));
			await journal.end();
		}
		for (const name of ['ledger-run-dd.lock', 'ledger-run-ee.2.journal', 'ledger.db', 'ledger-run-XX.0.journal']) {
			writeFileSync(join(dataDir, name), `1\n${line(name)}`);
		}
		const remaining = readStaleJournals(dataDir, (name) => name === 'bb').map(({ run: of, opens }) => [of, opens.map(([id]) => id)]);
		expect(remaining).toEqual([
			['aa', ['of aa']],
			['cc', ['of cc']],
		]);
	});

	test('of a file that is cut off anywhere are the lines that were whole', () => {
		const whole = ['a', 'b', 'ü'].map((id) => line(id, { team: 'Ünïcode "quoted" \u0000\n name' }));
		const bytes = Buffer.from(`1\n${whole.join('')}`);
		const wrong: unknown[] = [];
		for (let length = 0; length <= bytes.length; length++) {
			const dataDir = temporaryDirectory();
			writeFileSync(fileOf(dataDir), bytes.subarray(0, length));
			const count = bytes.subarray(2, length).filter((byte) => byte === 10).length;
			const ids = idsIn(dataDir);
			if (ids.join('') !== ['a', 'b', 'ü'].slice(0, count).join('')) wrong.push({ length, of: bytes.length, ids });
		}
		expect(wrong).toEqual([]);
	});

	test('leaves out what was torn in the middle, and garbage', () => {
		const torn = line('torn');
		const cases: readonly (readonly [string, string])[] = [
			['', ''],
			['1', ''],
			['1\n', ''],
			[`1\n${torn.slice(0, 20)}~\n${line('b')}`, 'b'],
			[`1\n${line('a')}${torn.slice(0, -1)}~\n${line('b')}`, 'ab'],
			[`1\n~\n~\n${line('a')}~\n`, 'a'],
			[`1\n${line('a')}${'\0'.repeat(4096)}`, 'a'],
			[`1\n${line('a')}${'\0'.repeat(4096)}\n${line('b')}`, 'ab'],
			[`1\n${line('a')}[]\nnull\n{}\n"text"\n17\n[1,2]\n\n${line('b')}`, 'ab'],
			[`1\n${line('a')}\u{fffd}\u{fffd}\n${line('b')}`, 'ab'],
		];
		const found = cases.map(([text]) => {
			const dataDir = temporaryDirectory();
			writeFileSync(fileOf(dataDir), text);
			return idsIn(dataDir).join('');
		});
		expect(found).toEqual(cases.map(([, ids]) => ids));
	});

	test('in a file that disappears while it is read is nothing', () => {
		const dataDir = temporaryDirectory();
		// Listed, but does not exist.
		symlinkSync(join(dataDir, 'gone'), join(dataDir, `ledger-run-${run}.0.journal`));
		writeFileSync(join(dataDir, `ledger-run-${run}.1.journal`), `2\n${line('a')}`);
		expect(idsIn(dataDir)).toEqual(['a']);
	});
});

describe('a disk that', () => {
	test('is full rejects a line, and fails the test', async () => {
		const { journal, dataDir } = setUp('process', (path) => symlinkSync('/dev/full', path));
		expect(() => journal.append(line('a'))).toThrow('ENOSPC');
		expect(() => journal.test()).toThrow('ENOSPC');
		// The database has the line nevertheless.
		journal.forget(1);
		await journal.end();
		expect(readdirSync(dataDir)).toEqual([]);
	});

	test('accepts a part of several lines rejects all of them; complete ones may be there', async () => {
		const dataDir = temporaryDirectory();
		const body = `
			const taken = [];
			try {
				for (let number = 0; number < 10_000; number += 7) {
					const ids = Array.from({ length: 7 }, (_, index) => 'r' + (number + index));
					journal.append(ids.map((id) => line(id)).join(''), 7);
					taken.push(...ids);
				}
			} catch (cause) {
				print({ taken, refused: cause.message });
			}`;
		const printed = await inAnotherProcess(dataDir, body, 'ulimit -f 8; exec "$0" "$@"');
		const { taken, refused: rejected } = JSON.parse(printed) as { taken: string[]; refused: string };
		expect([taken.length > 10, rejected]).toEqual([true, 'the disk wrote an incomplete line']);
		const ids = idsIn(dataDir);
		expect(ids).toEqual(ids.map((_, index) => `r${index}`));
		expect(ids.length - taken.length).toBeLessThan(7);
		expect(ids.length).toBeGreaterThanOrEqual(taken.length);
	});

	test('accepts a part of a line rejects it, and what follows', async () => {
		const dataDir = temporaryDirectory();
		// The system cuts a write at the limit; the next one fails.
		const body = `
			const ids = [], refused = [];
			for (let number = 0; refused.length < 3; number++) {
				try {
					journal.append(line('r' + number));
					ids.push('r' + number);
				} catch (cause) {
					refused.push(cause.message);
				}
			}
			const tests = [];
			try { journal.test(); } catch (cause) { tests.push(cause.message); }
			print({ ids, refused, tests });`;
		const printed = await inAnotherProcess(dataDir, body, 'ulimit -f 8; exec "$0" "$@"');
		const { ids, refused: rejected, tests } = JSON.parse(printed) as { ids: string[]; refused: string[]; tests: string[] };
		expect(ids.length).toBeGreaterThan(10);
		expect([rejected[0], tests.length]).toEqual(['the disk wrote an incomplete line', 1]);
		expect(rejected.slice(1).every((message) => message.includes('EFBIG'))).toBe(true);
		expect(idsIn(dataDir)).toEqual(ids);
	});

	test('takes a part of a line and then all again loses no other', async () => {
		const dataDir = temporaryDirectory();
		const body = `
			import { execFileSync } from 'node:child_process';
			const limit = (bytes) => execFileSync('prlimit', ['--fsize=' + bytes + ':unlimited', '--pid', String(process.pid)]);
			process.on('SIGXFSZ', () => {});
			const outcomes = {};
			const append = (id) => {
				try {
					journal.append(line(id));
					outcomes[id] = 'taken';
				} catch (cause) {
					outcomes[id] = 'refused';
				}
			};
			append('a');
			limit(line('a').length + 40);
			append('b');
			append('c');
			limit('unlimited');
			append('d');
			limit(3 * line('a').length + 60);
			append('e');
			append('f');
			limit('unlimited');
			journal.test();
			append('g');
			print(outcomes);`;
		const outcomes = JSON.parse(await inAnotherProcess(dataDir, body)) as Record<string, string>;
		const taken = Object.keys(outcomes).filter((id) => outcomes[id] === 'taken');
		expect(taken).toEqual(expect.arrayContaining(['a', 'd', 'g']));
		expect(taken.length).toBeLessThan(7);
		expect(idsIn(dataDir)).toEqual(taken);
	});
});

describe('syncs', () => {
	test('with durability process are none', async () => {
		requireProgram('strace');
		expect(await syncsOf('process', 'journal.append(line("a")); await journal.whenSafe();')).toEqual(['a']);
	});

	test('are shared by those that append in one tick, or while another is in flight', async () => {
		requireProgram('strace');
		const requests = await syncsOf(
			'power',
			`const safe = [];
			const append = (id) => {
				journal.append(line(id));
				safe.push(journal.whenSafe());
			};
			append('a');
			append('b');
			await new Promise((resolve) => setTimeout(resolve, 300));
			for (const id of ['c', 'd', 'e']) append(id);
			await Promise.all(safe);
			append('f');
			await Promise.all(safe);`,
			// Makes the first sync take long.
			'inject=fdatasync:delay_enter=1000000',
		);
		expect(requests).toEqual(['directory', 'a', 'b', 'sync', 'c', 'd', 'e', 'sync', 'f', 'sync']);
	});

	test('begin after the line of each that waits for them', async () => {
		requireProgram('strace');
		const body = `
			import { writeSync } from 'node:fs';
			const caller = async (name) => {
				for (let round = 0; round < 20; round++) {
					journal.append(line(name + round));
					await journal.whenSafe();
					writeSync(1, 'safe ' + name + round + '\\n');
					if (round % 3 === 0) await new Promise((resolve) => setTimeout(resolve, round % 5));
				}
			};
			await Promise.all(['a', 'b', 'c', 'd', 'e'].map(caller));`;
		const requests = await syncsOf('power', body);
		const unsafe = requests.filter((request, index) => {
			if (!request.startsWith('safe ')) return false;
			const appended = requests.indexOf(request.slice('safe '.length));
			return appended === -1 || !requests.slice(appended, index).includes('sync');
		});
		expect(unsafe).toEqual([]);
		expect(requests.filter((request) => request.startsWith('safe '))).toHaveLength(100);
		expect(requests.filter((request) => request === 'sync').length).toBeLessThan(100);
	});

	test('that fail reject each waiting caller, and none after', async () => {
		requireProgram('strace');
		const dataDir = temporaryDirectory();
		const printed = await inAnotherProcess(
			dataDir,
			`const outcomes = [];
			const append = (id) => {
				journal.append(line(id));
				return journal.whenSafe().then(() => outcomes.push(id + ' safe'), (cause) => outcomes.push(id + ' ' + cause.code));
			};
			await Promise.all(['a', 'b'].map(append));
			const first = append('c');
			await new Promise((resolve) => setTimeout(resolve, 100));
			await Promise.all([first, append('d')]);
			await append('e');
			print(outcomes);`,
			// strace counts the calls of each thread separately.
			`UV_THREADPOOL_SIZE=1 exec strace -f -qq -o /dev/null -e trace=fdatasync \
				-e inject=fdatasync:error=EIO:delay_enter=300000:when=1..2 "$0" "$@"`,
			'power',
		);
		expect(JSON.parse(printed)).toEqual(['a EIO', 'b EIO', 'c EIO', 'd safe', 'e safe']);
	});

	test('that fail have tests fail, until one that a test has begun succeeds', async () => {
		requireProgram('strace');
		const printed = await inAnotherProcess(
			temporaryDirectory(),
			`const seen = [];
			const test = () => {
				try {
					journal.test();
					seen.push('passes');
				} catch (cause) {
					seen.push(cause.code);
				}
			};
			test();
			journal.append(line('a'));
			await journal.whenSafe().catch(() => undefined);
			test();
			test();
			for (let round = 0; seen.length < 4; round++) {
				await new Promise((resolve) => setTimeout(resolve, 20));
				if (round === 20) test();
			}
			print(seen);`,
			'UV_THREADPOOL_SIZE=1 exec strace -f -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO:when=1 "$0" "$@"',
			'power',
		);
		expect(JSON.parse(printed)).toEqual(['passes', 'EIO', 'EIO', 'passes']);
	});
});

describe('a line of thirteen values that is no entry', () => {
	const sound = JSON.parse(line('a')) as unknown[];
	const changed = (place: number, value: unknown): string => `${JSON.stringify(sound.with(place, value))}\n`;

	const earlier = (form: unknown): unknown[] => sound.toSpliced(10, 2).toSpliced(6, 2, form);

	test.each([
		['an id of another kind', changed(0, 5)],
		['a time that is no number', changed(1, 'now')],
		['a time between milliseconds', changed(1, 0.5)],
		['a team that is none', changed(2, null)],
		['a dialect that is a number', changed(6, 2)],
		['a mark of streams that is a text', changed(7, '1')],
		['a mark of streams that is neither', changed(7, 2)],
		['budgets that are no JSON', changed(9, 'x')],
		['budgets that are a number', changed(9, '5')],
		['budgets of numbers', changed(9, '[5]')],
		['budgets that are nothing', changed(9, 'null')],
		['an endpoint that is a number', changed(10, 5)],
		['attributes that are no JSON', changed(11, '{')],
		['money below nothing', changed(12, -1)],
		['money that is no number', changed(12, '1.5')],
		['a fourteenth value', `${JSON.stringify([...sound, 1])}\n`],
		['an earlier release’s form that is text', `${JSON.stringify(earlier('2'))}\n`],
		['an earlier release’s form that is no whole number', `${JSON.stringify(earlier(0.5))}\n`],
		['an earlier release’s team that is none', `${JSON.stringify(earlier(2).with(2, null))}\n`],
	])('because of %s is left out', (_what, wrong) => {
		const dataDir = temporaryDirectory();
		writeFileSync(fileOf(dataDir, 0), `1\n${line('before')}${wrong}${line('after')}`);
		expect(idsIn(dataDir)).toEqual(['before', 'after']);
	});
});

function setUp(durability: Durability = 'process', prepare?: (path: string) => void) {
	const dataDir = temporaryDirectory();
	const paths = [0, 1].map((place) => fileOf(dataDir, place));
	for (const path of paths) prepare?.(path);
	const journal = new OpenJournal(dataDir, run, durability);
	const sizes = (): [number, number] => [statSync(paths[0] ?? '').size, statSync(paths[1] ?? '').size];
	const emptied = async (place: 0 | 1): Promise<void> => {
		await until(() => sizes()[place] === 0, `file ${place} is emptied`);
		await someTime();
	};
	return { dataDir, journal, sizes, emptied, remainingIds: () => idsIn(dataDir) };
}

function idsIn(dataDir: string): string[] {
	return readStaleJournals(dataDir, () => false).flatMap(({ opens }) => opens.map(([id]) => id));
}

function fileOf(dataDir: string, place = 0): string {
	return join(dataDir, `ledger-run-${run}.${place}.journal`);
}

/** Longer than it takes to empty a file. */
function someTime(): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, 50));
}

function scriptOf(dataDir: string, body: string, durability: Durability): string {
	return `
		import { OpenJournal } from ${JSON.stringify(join(import.meta.dirname, 'open-journal.ts'))};
		import { lineOf } from ${JSON.stringify(join(import.meta.dirname, 'compact-entries.ts'))};
		const row = ${JSON.stringify({ ...openEntry(''), reservedNanoUsd: null })};
		const line = (id) => lineOf({ ...row, id, reservedNanoUsd: 5n });
		const print = (value) => console.log(JSON.stringify(value));
		const journal = new OpenJournal(${JSON.stringify(dataDir)}, ${JSON.stringify(run)}, ${JSON.stringify(durability)});
		${body}`;
}

async function inAnotherProcess(dataDir: string, body: string, shell?: string, durability: Durability = 'process'): Promise<string> {
	const script = scriptOf(dataDir, body, durability);
	const command = [...(shell === undefined ? [] : ['sh', '-c', shell]), process.execPath, '--input-type=module', '-e', script];
	return (await promisify(execFile)(command[0] ?? '', command.slice(1))).stdout.trim();
}

/**
 * Traces system calls in order:
 * - an id: its line is written.
 * - `safe …`: that text is printed.
 * - `sync`: a file is synced.
 * - `directory`: a directory is synced.
 */
async function syncsOf(durability: Durability, body: string, more = ''): Promise<string[]> {
	const dataDir = temporaryDirectory();
	const trace = join(dataDir, 'trace');
	const options = ['-f', '-qq', '-s', '60', '-o', trace, '-e', 'trace=write,fdatasync,fsync', ...(more === '' ? [] : ['-e', more])];
	const child: ChildProcess = spawn('strace', [
		...options,
		process.execPath,
		'--input-type=module',
		'-e',
		scriptOf(dataDir, body, durability),
	]);
	expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(0);
	return readFileSync(trace, 'utf8')
		.split('\n')
		.flatMap((request) => {
			if (/ fdatasync\(/.test(request)) return ['sync'];
			if (/ fsync\(/.test(request)) return ['directory'];
			const written = /write\(\d+, "(?:\d+\\n)?\[\\"(\w+)\\"|write\(1, "(safe \w+)/.exec(request);
			return written === null ? [] : [written[1] ?? written[2] ?? ''];
		});
}

function temporaryDirectory(): string {
	const path = mkdtempSync(join(tmpdir(), 'tollgate-journal-'));
	onTestFinished(() => rmSync(path, { recursive: true }));
	return path;
}
