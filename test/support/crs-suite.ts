/**
 * Regression cases of the OWASP core rule set, sent unchanged to a running edge, and the counts of its responses (see the suite's README).
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

export interface CrsCase {
	readonly id: string;
	/** Paranoia level of the rule that the case is about. */
	readonly pl: number;
	readonly family: string;
	readonly place: 'line' | 'body';
	readonly expect: 'block' | 'pass';
	/** Result of the core rule set itself for the request at its first level. */
	readonly crs_pl1: 'block' | 'pass' | 'refuse';
	readonly method: string;
	readonly uri: string;
	readonly version: string;
	readonly headers?: readonly (readonly [string, string])[];
	readonly data?: string;
	readonly encoded_request?: string;
}

export type CrsOutcome = 'blocked' | 'refused' | 'let through';

export interface CrsResult {
	readonly crsCase: CrsCase;
	readonly outcome: CrsOutcome;
}

export const crsCases: readonly CrsCase[] = readFileSync(new URL('../suites/crs/cases.jsonl', import.meta.url), 'utf8')
	.trim()
	.split('\n')
	.map((line) => JSON.parse(line) as CrsCase);

const rejectedStatuses: ReadonlySet<number> = new Set([400, 405, 413, 414, 415, 431, 501, 505]);

const atOnce = 32;
const waitMs = 2000;

export async function runCrsCases(port: number, cases: readonly CrsCase[]): Promise<CrsResult[]> {
	const results: CrsResult[] = [];
	const waiting = cases.values();
	const worker = async (): Promise<void> => {
		for (const crsCase of waiting) results.push({ crsCase, outcome: await sendCase(port, crsCase) });
	};
	await Promise.all(Array.from({ length: atOnce }, worker));
	return results;
}

function sendCase(port: number, crsCase: CrsCase): Promise<CrsOutcome> {
	return new Promise((resolve) => {
		const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(bytesOf(crsCase)));
		let text = '';
		const finish = (outcome: CrsOutcome): void => {
			clearTimeout(timer);
			socket.destroy();
			resolve(outcome);
		};
		// Without a response in time, the request was not rejected.
		const timer = setTimeout(() => finish('let through'), waitMs);
		socket.setEncoding('latin1').on('data', (piece: string) => {
			text += piece;
			const response = /(?:^|\r\n\r\n)HTTP\/1\.1 ([2-5]\d\d) [^]*?\r\n\r\n/.exec(text);
			if (response === null) return;
			const status = Number(response[1]);
			if (status === 403 && /\r\nx-amzn-waf-action: BLOCK\r\n/i.test(response[0])) finish('blocked');
			else finish(rejectedStatuses.has(status) ? 'refused' : 'let through');
		});
		socket.on('error', () => undefined);
		socket.on('close', () => finish(text === '' ? 'refused' : 'let through'));
	});
}

function bytesOf({ method, uri, version, headers = [], data = '', encoded_request: encoded }: CrsCase): Buffer {
	if (encoded !== undefined) return Buffer.from(encoded, 'base64');
	const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
	return Buffer.from(`${method} ${uri} ${version}\r\n${lines}\r\n${data}`);
}

export interface CrsMeasurement {
	readonly family: string;
	readonly attacks: number;
	/** Attacks blocked, or rejected as invalid HTTP. */
	readonly stopped: number;
	readonly harmless: number;
	readonly falselyBlocked: number;
	readonly falseAlarms: readonly string[];
	readonly missed: readonly string[];
}

/** Counts by family. Attacks are those in line and headers at level 1; harmless requests are those that the core rule set accepts too. */
export function countCrs(results: readonly CrsResult[], place: CrsCase['place'], level = 1): CrsMeasurement[] {
	const counted = results.filter(({ crsCase }) => crsCase.pl === level && crsCase.place === place);
	return [...Map.groupBy(counted, ({ crsCase }) => crsCase.family)]
		.toSorted(([a], [b]) => (a < b ? -1 : 1))
		.map(([family, own]) => {
			const attacks = own.filter(({ crsCase }) => crsCase.expect === 'block');
			const harmless = own.filter(({ crsCase }) => crsCase.expect === 'pass' && crsCase.crs_pl1 === 'pass');
			const missed = attacks.filter(({ outcome }) => outcome === 'let through');
			const falseAlarms = harmless.filter(({ outcome }) => outcome === 'blocked');
			return {
				family,
				attacks: attacks.length,
				stopped: attacks.length - missed.length,
				harmless: harmless.length,
				falselyBlocked: falseAlarms.length,
				missed: missed.map(({ crsCase }) => crsCase.id),
				falseAlarms: falseAlarms.map(({ crsCase }) => crsCase.id),
			};
		});
}
