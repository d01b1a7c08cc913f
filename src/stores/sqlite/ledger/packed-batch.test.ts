import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ledgerNoonMs, openEntry } from '../../contracts/ledger.contract.ts';
import { lineOf, readLine } from './compact-entries.ts';
import type { CompactClose } from './ledger-operations.ts';
import { openingOf, packBatch, readEnds, readOpenings } from './packed-batch.ts';
import { requestIdOf } from './packed-request-id.ts';

const own = 'req_0123456789ab0123456789abcdef0123';
const maxNanoUsd = 2n ** 63n - 1n;

const anyId = fc.oneof(
	fc.constantFrom(
		own,
		`${own}.1`,
		`${own}x,5,`,
		`${own}\\,5,`,
		own.toUpperCase(),
		own.replace('9', 'A'),
		own.replace('9', ':'),
		`${own.slice(0, -1)}"`,
		'',
	),
	fc.string({ unit: 'binary' }),
	fc.stringMatching(/^req_[0-9a-f]{32}$/),
);
const anyName = fc.oneof(fc.constantFrom('team,1', '"', '\\', ']\n', ',1]'), fc.string({ unit: 'binary' }));
const anyMoney = fc.oneof(fc.constantFrom(0n, 10n ** 15n, BigInt(Number.MAX_SAFE_INTEGER), maxNanoUsd), fc.bigInt(0n, maxNanoUsd));

test('any lines are read as JSON would read them', () => {
	const anyEntry = fc.record({
		id: anyId,
		startedMs: fc.oneof(fc.constant(ledgerNoonMs), fc.maxSafeInteger()),
		team: anyName,
		dialect: anyName,
		isStreaming: fc.boolean(),
		model: anyName,
		budgets: fc.array(anyName),
		reservedNanoUsd: anyMoney,
	});
	fc.assert(
		fc.property(fc.array(anyEntry), (rows) => {
			const opens = rows.map(({ id, ...differences }) => lineOf(openEntry(id, differences)));
			expect(readOpenings(packBatch({ opens, closes: [] }))).toEqual(opens.map((line) => openingOf(readLine(line))));
		}),
		{ numRuns: 500 },
	);
});

test('any closes are read as they were packed', () => {
	const count = fc.oneof(fc.nat(), fc.double());
	const cost = anyMoney.map((money) => (money <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(money) : money));
	const counts = [count, count, count, count, count, count] as const;
	const anyClose: fc.Arbitrary<CompactClose> = fc.tuple(anyId, count, count, count, count, ...counts, cost);
	fc.assert(
		fc.property(fc.array(anyClose), (closes) => {
			const read = structuredClone(packBatch({ opens: [], closes }));
			const found = readEnds(read).map(({ id, ...numbers }) => [id, ...Object.values(numbers)]);
			expect(found).toEqual(closes.map(([id, ...numbers]) => [requestIdOf(id), ...numbers]));
		}),
		{ numRuns: 500 },
	);
});
