/** Vectors as arrays of numbers, or as base64 of little-endian 32-bit floats. */
import type { CooperativeTask } from '../../../core/cooperative-task.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { skipSpace } from '../../usage/key-scan.ts';

const bytesPerFloat = 4;

/** Returns a vector as `encoding_format` of the request asks for it. */
export function encodeVector(values: readonly number[], { encoding_format }: JsonObject): readonly number[] | string {
	return encoding_format === 'base64' ? packFloats(values) : values;
}

export function packFloats(values: readonly number[]): string {
	const bytes = Buffer.allocUnsafe(values.length * bytesPerFloat);
	for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * bytesPerFloat);
	return bytes.toString('base64');
}

export function unpackFloats(base64: string): number[] {
	const bytes = Buffer.from(base64, 'base64');
	return Array.from({ length: Math.floor(bytes.length / bytesPerFloat) }, (_, index) => bytes.readFloatLE(index * bytesPerFloat));
}

const key = Buffer.from('"embedding"');
const colon = 0x3a;
const quote = 0x22;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Vectors per step: about a millisecond of work. */
const vectorsAtOnce = 4;

/**
 * Converts a response whose vectors do not have the requested encoding, because some servers ignore `encoding_format`. Every other byte
 * stays.
 * @returns undefined for a response that has it, of which only the first vector's begin is read.
 */
export function* fittingSteps(body: Buffer, request: JsonObject): CooperativeTask<Buffer | undefined> {
	const { output_dtype: type } = request;
	// Other types are packed differently by each vendor.
	if (typeof type === 'string' && type !== 'float') return undefined;
	const given = request.encoding_format === 'base64' ? openBracket : quote;
	const close = given === quote ? quote : closeBracket;
	const pieces: Buffer[] = [];
	let copied = 0;
	for (let start = vectorFrom(body, 0), count = 1; start !== -1 && body[start] === given; count++) {
		const end = body.indexOf(close, start + 1) + 1;
		if (end === 0) return undefined;
		const values = readVector(body.toString('latin1', start, end));
		if (values !== undefined) {
			pieces.push(body.subarray(copied, start), Buffer.from(JSON.stringify(encodeVector(values, request))));
			copied = end;
		}
		start = vectorFrom(body, end);
		if (count % vectorsAtOnce === 0) yield;
	}
	return pieces.length === 0 ? undefined : Buffer.concat([...pieces, body.subarray(copied)]);
}

/** Returns the position of the next vector; -1 if there is none. The key's name is also a value, of `object`. */
function vectorFrom(body: Buffer, from: number): number {
	for (let at = body.indexOf(key, from); at !== -1; at = body.indexOf(key, at + key.length)) {
		const next = skipSpace(body, at + key.length, body.length);
		if (body[next] === colon) return skipSpace(body, next + 1, body.length);
	}
	return -1;
}

/** @returns undefined for anything but a vector. */
function readVector(json: string): readonly number[] | undefined {
	try {
		const vector: unknown = JSON.parse(json);
		if (typeof vector === 'string') return unpackFloats(vector);
		return isVector(vector) ? vector : undefined;
	} catch {
		return undefined;
	}
}

export function isVector(value: unknown): value is readonly number[] {
	return Array.isArray(value) && value.length > 0 && value.every((number) => typeof number === 'number');
}
