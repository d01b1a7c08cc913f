import type { RefusalCode, RefusalOptions } from '../../core/refusal.ts';
import { Refusal } from '../../core/refusal.ts';

/** What is wrong with one field. */
export interface FieldError {
	/** Such as `limits.rpm` or `client_ids[2]`; empty for the body as a whole. */
	readonly path: string;
	readonly message: string;
}

/** A refusal that names the fields at fault. */
export class FieldsRefusal extends Refusal {
	readonly errors: readonly FieldError[];

	constructor(code: RefusalCode, errors: readonly FieldError[], options: RefusalOptions = {}) {
		super(code, { ...options, message: options.message ?? describe(errors) });
		this.errors = errors;
	}
}

/** @param detail a sentence that needs no path before it; made of both by default. */
export function fieldInvalid(path: string, message: string, detail?: string): FieldsRefusal {
	return new FieldsRefusal('fields_invalid', [{ path, message }], detail === undefined ? {} : { message: detail });
}

/** Another record forbids the value of this field. */
export function fieldTaken(path: string, message: string): FieldsRefusal {
	return new FieldsRefusal('record_conflict', [{ path, message }]);
}

function describe(errors: readonly FieldError[]): string {
	const [first, ...others] = errors;
	if (first === undefined) return 'One or more fields are invalid';
	const where = first.path === '' ? 'The body' : `\`${first.path}\``;
	return `${where} ${first.message}${others.length === 0 ? '' : `, and ${others.length} more`}`;
}
