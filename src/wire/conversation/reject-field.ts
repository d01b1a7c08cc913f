import { Refusal } from '../../core/refusal.ts';

/**
 * Rejects what has no equivalent, or what the provider would take for something else.
 * @param rest what is wrong and what to do, to follow the field's name.
 */
export function rejectField(param: string, rest: string): never {
	throw new Refusal('field_invalid', { param, message: `\`${param}\` ${rest}` });
}
