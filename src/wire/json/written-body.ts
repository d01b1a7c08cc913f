import type { JsonBody, JsonObject } from './parse-body.ts';
import { type ByteRange, scanMembers } from './scan-members.ts';

/** A body that was put together here. Where its members lie is looked for only when something is to be changed in it. */
export class WrittenBody implements JsonBody {
	readonly bytes: Buffer;
	readonly isAscii: boolean;
	readonly members: JsonObject;
	readonly #wanted: ReadonlySet<string>;
	#ranges: ReadonlyMap<string, ByteRange> | undefined;

	constructor(members: JsonObject, wanted: ReadonlySet<string>) {
		this.members = members;
		const text = JSON.stringify(members);
		this.bytes = Buffer.from(text);
		this.isAscii = text.length === this.bytes.length;
		this.#wanted = wanted;
	}

	get ranges(): ReadonlyMap<string, ByteRange> {
		this.#ranges ??= scanMembers(this.bytes, this.#wanted).ranges;
		return this.#ranges;
	}
}
