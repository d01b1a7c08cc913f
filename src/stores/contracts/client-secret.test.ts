import { scryptSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { derive, hashClientSecret, isHashOf, newDerivation, parseSecretHash } from './client-secret.ts';

const cheap = { cost: 16, blockSize: 8, parallelization: 1 };

describe('a client secret', () => {
	test('is hashed by scrypt of 2^14 with a salt of its own', async () => {
		const encoded = await hashClientSecret('secret');
		const [scheme, cost, blockSize, parallelization, salt = '', hash] = encoded.split('$');
		expect([scheme, cost, blockSize, parallelization]).toEqual(['scrypt', '16384', '8', '1']);
		expect(Buffer.from(salt, 'base64url')).toHaveLength(16);
		expect(hash).toBe(scryptSync('secret', Buffer.from(salt, 'base64url'), 32, { N: 16384, r: 8, p: 1 }).toString('base64url'));
		expect(await hashClientSecret('secret')).not.toBe(encoded);
	});

	test('is found again in its hash, and no other is', async () => {
		const printable = fc.string({ minLength: 1, maxLength: 60 });
		const any = fc.string({ unit: 'binary', maxLength: 60 });
		const more = fc.string({ unit: fc.constantFrom('\0', ' ', 'a'), maxLength: 3 });
		const pairs = fc.oneof(
			fc.tuple(printable, any),
			fc.tuple(printable, more).map(([right, end]) => [right, right + end] as const),
		);
		await fc.assert(
			fc.asyncProperty(pairs, async ([right, other]) => {
				const parsed = parseSecretHash(await hashClientSecret(right, newDerivation(cheap)));
				if (parsed === undefined) throw new Error('unreadable');
				expect(isHashOf(parsed.hash, right, await derive(right, parsed.derivation))).toBe(true);
				expect(isHashOf(parsed.hash, other, await derive(other, parsed.derivation))).toBe(right === other);
			}),
			{ numRuns: 200 },
		);
	});

	const hash = Buffer.alloc(32).toString('base64url');
	test.each([
		'',
		'secret',
		`bcrypt$16$8$1$c2FsdA$${hash}`,
		`scrypt$16$8$1$c2FsdA`,
		`scrypt$16$8$1$c2FsdA$${hash}$`,
		`scrypt$16$8$1$c2FsdA$${hash.slice(4)}`,
		`scrypt$16$8$1$$${hash}`,
		`scrypt$15$8$1$c2FsdA$${hash}`,
		`scrypt$1$8$1$c2FsdA$${hash}`,
		`scrypt$0$8$1$c2FsdA$${hash}`,
		`scrypt$16$0$1$c2FsdA$${hash}`,
		`scrypt$16$8$0$c2FsdA$${hash}`,
		`scrypt$16$8$99$c2FsdA$${hash}`,
		`scrypt$524288$8$1$c2FsdA$${hash}`,
		`scrypt$1048576$999$1$c2FsdA$${hash}`,
		`scrypt$16$8$1$c2F!dA$${hash}`,
	])('a hash such as %j, unreadable or too dear to check, is none', (encoded) => {
		expect(parseSecretHash(encoded)).toBeUndefined();
	});

	test('with the highest cost that is allowed can be checked', async () => {
		const parsed = parseSecretHash(`scrypt$262144$8$1$c2FsdA$${hash}`);
		if (parsed === undefined) throw new Error('unreadable');
		expect(await derive('secret', parsed.derivation)).toHaveLength(32);
	});
});

test('how long the comparison takes does not tell how much of the hash is right', () => {
	// Compares time against the length of the shared prefix. Noise of the machine can only increase one
	// measurement, whereas a leaking comparison shows in each.
	const min = Math.min(...[1, 2, 3].map(() => Math.abs(correlation(withoutOutliers(measureComparisons())))));
	expect(min).toBeLessThan(0.1);
});

function measureComparisons(): { prefix: number; spentNs: number }[] {
	const right = Buffer.alloc(32, 7);
	const samples: { prefix: number; spentNs: number }[] = [];
	for (let index = 0; index < 10_000; index++) {
		const prefix = (index * 7) % 33;
		const guess = Buffer.alloc(32, 8);
		right.copy(guess, 0, 0, prefix);
		const beganNs = process.hrtime.bigint();
		for (let round = 0; round < 10; round++) isHashOf(right, 'secret', guess);
		samples.push({ prefix, spentNs: Number(process.hrtime.bigint() - beganNs) });
	}
	return samples;
}

/** Drops the slowest tenth, which is noise of the machine. */
function withoutOutliers<Sample extends { spentNs: number }>(samples: Sample[]): Sample[] {
	return samples.toSorted((left, right) => left.spentNs - right.spentNs).slice(0, Math.floor(samples.length * 0.9));
}

function correlation(samples: readonly { prefix: number; spentNs: number }[]): number {
	const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
	const meanPrefix = mean(samples.map(({ prefix }) => prefix));
	const meanSpent = mean(samples.map(({ spentNs }) => spentNs));
	const sum = (term: (prefix: number, spent: number) => number): number =>
		samples.reduce((total, { prefix, spentNs }) => total + term(prefix - meanPrefix, spentNs - meanSpent), 0);
	return sum((prefix, spent) => prefix * spent) / Math.sqrt(sum((prefix) => prefix ** 2) * sum((_, spent) => spent ** 2));
}
