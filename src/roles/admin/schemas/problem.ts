import { z } from 'zod';
import { named } from './values.ts';

/** RFC 9457. */
export const problem = named(
	'Problem',
	z.strictObject({
		type: z.string().describe('`urn:tollgate:problem:` and the code.'),
		title: z.string(),
		status: z.int(),
		detail: z.string(),
		code: z.string(),
		errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).describe('Each field at fault.'),
		request_id: z.string(),
	}),
);
