import { idHash } from '../../id-hash-table.ts';

const prefix = 'req_';
const digits = 32;
/** Length of a generated id. */
export const ownIdLength = prefix.length + digits;

/** A generated id takes 16 bytes instead of 36, represented here as four numbers; others stay text. */
export type RequestId = OwnRequestId | string;

interface OwnRequestId {
	readonly first: number;
	readonly second: number;
	readonly third: number;
	readonly fourth: number;
}

const notHexadecimal = 0x100;
/** By character code, lower case only, because upper case would be decoded as another id. */
const valueOfDigit = Uint16Array.from({ length: 128 }, (_, code) => {
	const value = '0123456789abcdef'.indexOf(String.fromCharCode(code));
	return value === -1 ? notHexadecimal : value;
});

/** @returns undefined unless the text has a generated id at `start`; anything may follow it. */
export function ownRequestIdAt(text: string, start: number): OwnRequestId | undefined {
	if (!text.startsWith(prefix, start) || text.length < start + ownIdLength) return undefined;
	const from = start + prefix.length;
	const [first, second] = [eightDigitsAt(text, from), eightDigitsAt(text, from + 8)];
	const [third, fourth] = [eightDigitsAt(text, from + 16), eightDigitsAt(text, from + 24)];
	if (first === undefined || second === undefined || third === undefined || fourth === undefined) return undefined;
	return { first, second, third, fourth };
}

function eightDigitsAt(text: string, start: number): number | undefined {
	let number = 0;
	let seen = 0;
	for (let place = start; place < start + 8; place++) {
		const value = valueOfDigit[text.charCodeAt(place)] ?? notHexadecimal;
		number = (number << 4) | value;
		seen |= value;
	}
	return seen < notHexadecimal ? number : undefined;
}

export function requestIdOf(id: string): RequestId {
	return id.length === ownIdLength ? (ownRequestIdAt(id, 0) ?? id) : id;
}

/** Returns the same hash as `idHash`. */
export function requestIdHash(id: RequestId): number {
	return typeof id === 'string' ? idHash(id) : id.fourth;
}

export function isSameRequestId(one: RequestId, other: RequestId): boolean {
	if (typeof one === 'string' || typeof other === 'string') return one === other;
	return one.fourth === other.fourth && one.third === other.third && one.second === other.second && one.first === other.first;
}

export const ownIdBytes = digits / 2;

/** @returns the parameter for a statement, which copies it. @param bytes buffer for a generated id. */
export function bindRequestId(id: RequestId, bytes: Buffer): Buffer | string {
	if (typeof id === 'string') return id;
	putNumber(bytes, 0, id.first);
	putNumber(bytes, 4, id.second);
	putNumber(bytes, 8, id.third);
	putNumber(bytes, 12, id.fourth);
	return bytes;
}

function putNumber(bytes: Buffer, at: number, number: number): void {
	bytes[at] = number >>> 24;
	bytes[at + 1] = number >>> 16;
	bytes[at + 2] = number >>> 8;
	bytes[at + 3] = number;
}

export function packRequestId(id: string): Buffer | string {
	return bindRequestId(requestIdOf(id), Buffer.allocUnsafe(ownIdBytes));
}

export function readRequestId(packed: unknown): string {
	if (packed instanceof Uint8Array) return prefix + Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength).toString('hex');
	if (typeof packed !== 'string') throw new TypeError('The id of a ledger entry is neither bytes nor text');
	return packed;
}
