/** What is recorded of models: of the very name, else of one that is only spelled otherwise, so that none slips by. */
export class ByModel<Value> {
	readonly #exact: ReadonlyMap<string, Value>;
	readonly #folded: ReadonlyMap<string, Value>;

	constructor(entries: readonly (readonly [model: string, value: Value])[]) {
		this.#exact = new Map(entries);
		this.#folded = new Map(entries.map(([model, value]) => [folded(model), value]));
	}

	get size(): number {
		return this.#exact.size;
	}

	find(model: string): Value | undefined {
		return this.#exact.get(model) ?? this.#folded.get(folded(model));
	}
}

/** Without Google's collection, which its models' names may be written with. */
function folded(model: string): string {
	return model.toLowerCase().replace(/^(?:models\/)+(?=.)/, '');
}
