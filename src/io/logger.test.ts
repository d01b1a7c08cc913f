import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createLogger, type Logger, type LoggerOptions, type LogLevel } from './logger.ts';

function start(
	level: LogLevel = 'debug',
	more: Partial<LoggerOptions> = {},
): { log: Logger; lines: () => Record<string, unknown>[]; text: () => string } {
	let written = '';
	const log = createLogger({ level, clock: new ManualClock(1000), destination: { write: (line) => void (written += line) }, ...more });
	return {
		log,
		text: () => written,
		lines: () =>
			written
				.split('\n')
				.filter((line) => line !== '')
				.map((line) => JSON.parse(line) as Record<string, unknown>),
	};
}

test('a line is one JSON object with level, time and event', () => {
	const { log, lines } = start();
	log.info('request', { status: 200, path: '/a"b\n', code: undefined });
	log.warn('quiet');
	expect(lines()).toEqual([
		{ level: 'info', time: '1970-01-01T00:00:01.000Z', msg: 'request', status: 200, path: '/a"b\n' },
		{ level: 'warn', time: '1970-01-01T00:00:01.000Z', msg: 'quiet' },
	]);
});

test('text lines read without a parser, and are one line each', () => {
	const { log, text } = start('debug', { format: 'text', worker: 2 });
	log.info('request', { status: 200, path: '/v1/models', code: undefined, roles: ['edge', 'gateway'], note: 'two words', none: null });
	log.info('lists', { empty: [], numbers: [1, 2] });
	log.warn('odd', { path: 'a\nb\u001b[31m\u202e', 'na\nme': { a: 'x\u009bm' } });
	expect(text()).toBe(
		'1970-01-01T00:00:01.000Z INFO  request worker=2 status=200 path=/v1/models roles=edge,gateway note="two words" none=null\n' +
			'1970-01-01T00:00:01.000Z INFO  lists worker=2 empty=[] numbers=[1,2]\n' +
			'1970-01-01T00:00:01.000Z WARN  odd worker=2 path="a\\nb\\u001b[31m\u{fffd}" na\u{fffd}me={"a":"x\u{fffd}m"}\n',
	);
});

test('an error in a text line has its message, and the stack follows it', () => {
	const { log, text } = start('debug', { format: 'text' });
	log.error('defect', { error: new TypeError('bug') });
	const [first = '', second = '', third = ''] = text().split('\n');
	expect(first).toBe('1970-01-01T00:00:01.000Z ERROR defect error={"name":"TypeError","message":"bug"}');
	expect(second).toBe('    TypeError: bug');
	expect(third).toMatch(/^ {4}at .*logger\.test\.ts/);
});

test.each([0, 999, 1000, 1999.6, 1_764_000_000_123, -1])('the time %d has the format of Date', (ms) => {
	const { log, lines } = start('debug', { clock: new ManualClock(ms) });
	log.info('a');
	log.info('b');
	expect(lines().map(({ time }) => time)).toEqual(Array(2).fill(new Date(Math.floor(ms)).toISOString()));
});

test('the level can be changed while lines are written', () => {
	const { log, lines } = start('warn');
	log.info('a');
	log.setLevel('info');
	log.info('b');
	log.setLevel('error');
	log.warn('c');
	expect(lines().map((line) => line['msg'])).toEqual(['b']);
});

test('lines below the level are not written', () => {
	const { log, lines } = start('warn');
	log.debug('a');
	log.info('b');
	log.warn('c');
	log.error('d');
	expect(lines().map((line) => line['msg'])).toEqual(['c', 'd']);
});

const canary = 'canary-0123456789';

test.each(['debug', 'info', 'warn', 'error'] as const)('secrets under their own names never reach a line of level %s', (level) => {
	const { log, text } = start();
	const names = [
		'authorization',
		'Authorization',
		'api_key',
		'apiKey',
		'client_secret',
		'clientSecret',
		'secret',
		'access_token',
		'password',
	];
	for (const name of [...names, 'cookie', 'set-cookie', 'x-api-key', 'private_key', 'refreshToken']) {
		log[level]('flat', { [name]: canary });
		log[level]('deep', { headers: { [name]: [canary] }, list: [{ [name]: canary }] });
		log[level]('error', { error: Object.assign(new Error('x'), { [name]: canary, config: { [name]: canary } }) });
	}
	expect(text()).not.toContain(canary);
	expect(text()).toContain('[redacted]');
});

test.each([
	`Bearer ${canary}`,
	`basic ${canary}`,
	`sk-${canary}`,
	`AIza${canary}0123456789`,
	'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.canary-0123456789',
	`https://x.test/v1?key=${canary}&a=b`,
])('a secret in the middle of a message is redacted: %s', (secret) => {
	const { log, text } = start();
	log.error('failed', { reason: `sent ${secret} and failed`, error: new Error(`with ${secret}`, { cause: new Error(secret) }) });
	expect(text()).not.toContain(canary);
	expect(text()).toContain('and failed');
});

test('errors keep their message, their code and their cause', () => {
	const { log, lines } = start();
	const cause = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' });
	log.error('defect', { error: new TypeError('bug', { cause }) });
	expect(lines()[0]?.['error']).toMatchObject({
		name: 'TypeError',
		message: 'bug',
		stack: expect.stringContaining('logger.test.ts') as string,
		cause: { message: 'connect refused', code: 'ECONNREFUSED' },
	});
});

test('values that JSON cannot represent cause no failure', () => {
	const { log, lines } = start();
	const circle: Record<string, unknown> = {};
	circle['self'] = circle;
	log.info('big', { amount: 12n });
	log.info('odd', { circle, amount: 12n, bytes: Buffer.from('abc'), map: new Map([['a', 1]]), nothing: null });
	expect(lines()[0]).toMatchObject({ amount: '12' });
	expect(lines()[1]).toMatchObject({ amount: '12', bytes: '[3 bytes]', map: [['a', 1]], nothing: null });
});

test('flush writes all lines', async () => {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-log-'));
	onTestFinished(() => rmSync(directory, { recursive: true }));
	const path = join(directory, 'deep/tollgate.log');
	const log = createLogger({ level: 'info', clock: new ManualClock(), destination: path });
	for (let index = 0; index < 1000; index++) log.info('request', { index });
	log.flush();
	const indexes = (): unknown[] =>
		readFileSync(path, 'utf8')
			.trim()
			.split('\n')
			.map((line) => (JSON.parse(line) as { index: number }).index);
	await expect.poll(indexes).toEqual(Array.from({ length: 1000 }, (_, index) => index));
});

test('lines beyond the limit for a slow reader are dropped, and the log reports their number', async () => {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-log-'));
	onTestFinished(() => rmSync(directory, { recursive: true }));
	const path = join(directory, 'tollgate.log');
	const log = createLogger({ level: 'info', clock: new ManualClock(), destination: path });
	const sent = 300;
	for (let index = 0; index < sent; index++) log.info('request', { text: 'x'.repeat(100_000) });
	const lines = (): string[] => readFileSync(path, 'utf8').trim().split('\n');
	const flushed = (): string | undefined => {
		log.flush();
		return lines().at(-1);
	};
	await expect.poll(flushed).toContain('"msg":"log lines dropped"');
	const { count } = JSON.parse(lines().at(-1) ?? '') as { count: number };
	expect(count).toBeGreaterThan(100);
	expect(lines()).toHaveLength(sent - count + 1);
});
