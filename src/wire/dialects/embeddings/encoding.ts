/** Vectors as arrays of numbers, or as base64 of little-endian 32-bit floats. */
import { readObject } from '../../conversation/read-json.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
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

/**
 * Converts a response whose vectors do not have the requested encoding, because some servers ignore `encoding_format`.
 * @returns undefined for a response that has it, of which only the first vector's begin is read.
 */
export function fitEncoding(body: Buffer, request: JsonObject): string | undefined {
	const { output_dtype: type } = request;
	// Other types are packed differently by each vendor.
	if (typeof type === 'string' && type !== 'float') return undefined;
	const first = firstVectorByte(body);
	const wantsBase64 = request.encoding_format === 'base64';
	if (first === undefined || (first === quote) === wantsBase64) return undefined;
	const response = readObject(body.toString());
	if (!Array.isArray(response?.data)) return undefined;
	const data = response.data.map((item: unknown) =>
		isJsonObject(item) ? { ...item, embedding: reencode(item.embedding, request) } : item,
	);
	return JSON.stringify({ ...response, data });
}

/** Returns the first byte of the first vector. The key's name is also a value, of `object`. */
function firstVectorByte(body: Buffer): number | undefined {
	for (let at = body.indexOf(key); at !== -1; at = body.indexOf(key, at + key.length)) {
		const next = skipSpace(body, at + key.length, body.length);
		if (body[next] === colon) return body[skipSpace(body, next + 1, body.length)];
	}
	return undefined;
}

function reencode(vector: unknown, request: JsonObject): unknown {
	if (typeof vector === 'string') return encodeVector(unpackFloats(vector), request);
	return isVector(vector) ? encodeVector(vector, request) : vector;
}

export function isVector(value: unknown): value is readonly number[] {
	return Array.isArray(value) && value.length > 0 && value.every((number) => typeof number === 'number');
}
