/** A name that may stand in a header; others are a client's mistake or malice. */
const plainName = /^[\w.[\]-]{1,64}$/;

/** Enough to find a mistake by; a header has an end. */
const maxWarnings = 24;

/** What was dropped or changed in a request, each reported once. */
export class RequestWarnings {
	readonly #sentences = new Set<string>();
	readonly #notes = new Set<string>();

	/** @param what ASCII and of our own words, for it goes into a header. */
	add(field: string, what: string): void {
		addTo(this.#sentences, field, what);
	}

	/** What was changed so that the other dialect says the same. As `add`. */
	note(field: string, what: string): void {
		addTo(this.#notes, field, what);
	}

	list(): readonly string[] {
		return [...this.#sentences];
	}

	notes(): readonly string[] {
		return [...this.#notes];
	}
}

function addTo(sentences: Set<string>, field: string, what: string): void {
	if (sentences.size >= maxWarnings) return;
	sentences.add(`${plainName.test(field) ? field : 'a field of unusual name'}: ${what}`);
}
