/**
 * Values by model name. An exact name wins; otherwise a name that differs only in spelling matches, so that no spelling evades a setting.
 */
export class ByModel<Value> {
	readonly #exact: ReadonlyMap<string, Value>;
	readonly #folded: ReadonlyMap<string, Value>;

	constructor(entries: readonly (readonly [model: string, value: Value])[]) {
		this.#exact = new Map(entries);
		this.#folded = new Map(entries.map(([model, value]) => [foldedModel(model), value]));
	}

	get size(): number {
		return this.#exact.size;
	}

	find(model: string): Value | undefined {
		return this.#exact.get(model) ?? this.#folded.get(foldedModel(model));
	}
}

/** Removes Google's collection prefix, which clients may write before the name of a Gemini model. */
export function foldedModel(model: string): string {
	return model.toLowerCase().replace(/^(?:models\/)+(?=.)/, '');
}
