import type { RejectionCode, RejectionOptions } from '../../core/rejection.ts';
import { Rejection } from '../../core/rejection.ts';

/** Error of one field. */
export interface FieldError {
	/** Path such as `limits.rpm` or `client_ids[2]`; empty for the whole body. */
	readonly path: string;
	readonly message: string;
}

/** A rejection that names the invalid fields. */
export class FieldsRejection extends Rejection {
	readonly errors: readonly FieldError[];

	constructor(code: RejectionCode, errors: readonly FieldError[], options: RejectionOptions = {}) {
		super(code, { ...options, message: options.message ?? describe(errors) });
		this.errors = errors;
	}
}

/** @param detail a sentence that needs no path before it; made of both by default. */
export function fieldInvalid(path: string, message: string, detail?: string): FieldsRejection {
	return new FieldsRejection('fields_invalid', [{ path, message }], detail === undefined ? {} : { message: detail });
}

/** Creates the rejection of a value that conflicts with another record. */
export function isFieldTaken(path: string, message: string): FieldsRejection {
	return new FieldsRejection('record_conflict', [{ path, message }]);
}

function describe(errors: readonly FieldError[]): string {
	const [first, ...others] = errors;
	if (first === undefined) return 'One or more fields are invalid';
	const where = first.path === '' ? 'The body' : `\`${first.path}\``;
	return `${where} ${first.message}${others.length === 0 ? '' : `, and ${others.length} more`}`;
}
