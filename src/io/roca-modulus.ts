/**
 * Moduli of a faulty generator (CVE-2017-15361) are powers of 65537 modulo every small prime. For one that is not of
 * that generator, the odds to pass all these primes are below one in a hundred million.
 */
const primes = [
	3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139,
	149, 151, 157, 163, 167,
];

const fingerprint = primes.map((prime) => ({ prime: BigInt(prime), powers: powersOf65537(prime) }));

export function isRocaModulus(modulus: bigint): boolean {
	return fingerprint.every(({ prime, powers }) => powers.has(Number(modulus % prime)));
}

function powersOf65537(prime: number): ReadonlySet<number> {
	const powers = new Set<number>();
	for (let power = 1; !powers.has(power); power = (power * 65_537) % prime) powers.add(power);
	return powers;
}
