import type { JsonObject } from '../../json/parse-body.ts';

interface Content {
	readonly role: 'user' | 'model';
	readonly parts: JsonObject[];
}

/** Turns as Gemini takes them: neighbours of one role joined. */
export class Contents {
	readonly list: Content[] = [];
	/** Nothing joins results, whose number must be that of the calls. */
	#isLastClosed = false;

	add(role: Content['role'], parts: readonly JsonObject[]): void {
		const last = this.list.at(-1);
		if (last?.role === role && !this.#isLastClosed) for (const part of parts) last.parts.push(part);
		else this.list.push({ role, parts: [...parts] });
		this.#isLastClosed = false;
	}

	addResults(parts: readonly JsonObject[]): void {
		this.list.push({ role: 'user', parts: [...parts] });
		this.#isLastClosed = true;
	}

	/** Marks the first call of each turn that has no signature, where the model demands one: of parallel calls only the first has it. */
	markUnsigned(signature: string): boolean {
		let isMarked = false;
		for (const { parts } of this.list) {
			const first = parts.findIndex((part) => part.functionCall !== undefined);
			const part = parts[first];
			if (part === undefined || part.thoughtSignature !== undefined) continue;
			parts[first] = { ...part, thoughtSignature: signature };
			isMarked = true;
		}
		return isMarked;
	}
}
