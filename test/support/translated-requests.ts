import { expect } from 'vitest';
import { Rejection } from '../../src/core/rejection.ts';
import type { JsonObject } from '../../src/wire/json/parse-body.ts';

/** Counts requests of generated conversations by what became of them. */
export class TranslatedRequests {
	#accepted = 0;
	#rejected = 0;

	/** Expects that the provider accepts the body, unless the translation rejects a field of the client. */
	async send(
		translate: () => JsonObject,
		unknownFields: (body: JsonObject) => unknown,
		url: string,
		headers: Record<string, string>,
	): Promise<void> {
		let body: JsonObject;
		try {
			body = translate();
		} catch (cause) {
			expect(cause).toBeInstanceOf(Rejection);
			expect(cause).toMatchObject({ code: 'field_invalid', param: expect.stringMatching(/^[a-z_]+/) as unknown });
			this.#rejected++;
			return;
		}
		this.#accepted++;
		expect(unknownFields(body)).toEqual([]);
		const response = await fetch(url, {
			method: 'POST',
			headers: { ...headers, 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});
		const text = await response.text();
		expect({ status: response.status, error: response.ok ? '' : text }).toEqual({ status: 200, error: '' });
	}

	expectBoth(): void {
		expect(this.#accepted).toBeGreaterThan(100);
		expect(this.#rejected).toBeGreaterThan(10);
	}
}
