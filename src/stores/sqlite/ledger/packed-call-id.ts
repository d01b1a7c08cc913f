const prefix = 'req_';
const packable = /^req_[0-9a-f]{32}$/;

/** Ids of our own making take 16 bytes instead of 36; others stay text. */
export function packCallId(id: string): Buffer | string {
	return packable.test(id) ? Buffer.from(id.slice(prefix.length), 'hex') : id;
}

export function readCallId(packed: unknown): string {
	if (packed instanceof Uint8Array) return prefix + Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength).toString('hex');
	if (typeof packed !== 'string') throw new TypeError('The id of a ledger row is neither bytes nor text');
	return packed;
}
