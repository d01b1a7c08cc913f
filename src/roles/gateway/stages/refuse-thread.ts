import { Refusal } from '../../../core/refusal.ts';
import type { Provider } from '../../../wire/providers/provider.ts';
import { isSameDialect } from '../../../wire/translate.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import type { Call } from './read-call.ts';

/** On these details Anthropic's SDKs send the whole conversation without `thread`, and go on so. */
const details = { error_code: 'thread_unsupported_request', unsupported: ['model'] };

/**
 * A request with `thread` holds the newest turns alone: the rest is stored at Anthropic, where guardrails cannot read it, nor a budget
 * know what it can cost at most.
 * @throws Refusal `thread_unsupported_request`.
 */
export function refuseThread({ format, body }: Call, provider: Provider, { settings: { budgets }, guarding }: GatewayParts): void {
	const field = format.storedTurnsField(body.members);
	if (field === undefined) return;
	const isBounded = budgets.isEnabled && budgets.hold === 'worst_case';
	if (isSameDialect(format.name, provider.protocol.wire) && guarding === undefined && !isBounded) return;
	throw new Refusal('thread_unsupported_request', { param: field, details });
}
