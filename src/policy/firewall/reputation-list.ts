/**
 * Parses reputation blocklists in their published formats: FireHOL's `.netset` and `.ipset`, Spamhaus DROP as text and as JSON lines. Also
 * parses any other text with one address or range per line.
 */
import { type AddressClass, addressClassNames, classifyAddress } from './address-class.ts';
import { parseIpRange } from './ip-address.ts';
import { type IpRange, IpRangeSet } from './ip-range-set.ts';

/** Reports an unusable list. */
export class ReputationListError extends Error {
	override readonly name = 'ReputationListError';
	/** Line number from 1; 0 for the list as a whole. */
	readonly line: number;

	constructor(line: number, reason: string) {
		super(reason);
		this.line = line;
	}
}

export interface ReputationList {
	readonly ranges: IpRangeSet;
	/** Ranges of special-purpose networks, such as FireHOL's first level has. */
	readonly reserved: readonly ReservedRange[];
}

export interface ReservedRange {
	readonly line: number;
	readonly range: string;
	/** Description in words. */
	readonly what: string;
}

const maxRanges = 1_000_000;
const maxLineLength = 4096;

/** Classes that cause a warning; single test networks are common in lists. */
const warned: ReadonlySet<AddressClass> = new Set(['loopback', 'private', 'link_local', 'shared', 'metadata', 'unspecified']);

/** Reads a list line by line, so that a long one can be read in several turns of the event loop. */
export class ReputationListReader {
	readonly #ranges: IpRange[] = [];
	readonly #reserved: ReservedRange[] = [];
	#line = 0;

	/** @throws ReputationListError. */
	add(line: string): void {
		this.#line++;
		if (line.length > maxLineLength) throw this.#error(`is longer than ${maxLineLength} characters`);
		const text = line.trim();
		if (text === '' || text.startsWith('#') || text.startsWith(';')) return;
		const written = text.startsWith('{') ? this.#readJson(text) : text.split(/[\s;#]/, 1)[0];
		if (written === undefined) return;
		const parsed = parseIpRange(written);
		if (parsed === undefined) throw this.#error(`\`${written.slice(0, 60)}\` is neither an address nor a range`);
		const { address, prefixLength } = parsed;
		const hostBits = BigInt((address.family === 4 ? 32 : 128) - prefixLength);
		const first = (address.bits >> hostBits) << hostBits;
		this.#ranges.push(unmapped({ family: address.family, first, last: first | ((1n << hostBits) - 1n) }));
		if (this.#ranges.length > maxRanges) throw this.#error(`has more than ${maxRanges} ranges`);
		const addressClass = classifyAddress(written.split('/', 1)[0] ?? '');
		if (warned.has(addressClass)) this.#reserved.push({ line: this.#line, range: written, what: addressClassNames[addressClass] });
	}

	/** @throws ReputationListError when there is no range at all, for example after a failed download. */
	end(): ReputationList {
		if (this.#ranges.length === 0) throw new ReputationListError(0, 'contains no address or range');
		return { ranges: new IpRangeSet(this.#ranges), reserved: this.#reserved };
	}

	/** Parses a range of Spamhaus's JSON lines; returns undefined for the metadata record at the end. */
	#readJson(text: string): string | undefined {
		let record: unknown;
		try {
			record = JSON.parse(text);
		} catch {
			throw this.#error('is not JSON');
		}
		const { cidr, type } = record as { cidr?: unknown; type?: unknown };
		if (typeof cidr === 'string') return cidr;
		if (type === 'metadata') return undefined;
		throw this.#error('has no `cidr`');
	}

	#error(reason: string): ReputationListError {
		return new ReputationListError(this.#line, reason);
	}
}

/** Converts IPv4 ranges in IPv6 notation to IPv4 ranges, because addresses are looked up in that form. */
function unmapped(range: IpRange): IpRange {
	if (range.family === 4 || range.first >> 32n !== 0xffffn || range.last >> 32n !== 0xffffn) return range;
	return { family: 4, first: range.first & 0xffff_ffffn, last: range.last & 0xffff_ffffn };
}
