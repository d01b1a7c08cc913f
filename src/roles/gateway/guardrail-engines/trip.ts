import type { Finding } from '../../../policy/guardrails/guardrail.ts';

/** What tripped, as it is told. */
export interface Trip extends Pick<Finding, 'category' | 'action'> {
	readonly policy: string;
}
