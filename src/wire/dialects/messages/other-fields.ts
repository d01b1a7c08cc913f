import type { Capability } from '../../conversation/conversation.ts';
import type { JsonView } from '../../conversation/json-view.ts';
import { rejectField } from '../../conversation/reject-field.ts';
import type { RequestWarnings } from '../../conversation/request-warnings.ts';

/** Fields that the conversation carries, or that mean nothing outside their vendor. */
const handledElsewhere: ReadonlySet<string> = new Set([
	'model',
	'messages',
	'system',
	'max_tokens',
	'stop_sequences',
	'temperature',
	'top_p',
	'stream',
	'tools',
	'tool_choice',
	'thinking',
	'output_config',
	'output_format',
	'metadata',
	'service_tier',
	'cache_control',
	'betas',
]);

/**
 * Judges the fields that have no equivalent: all but one are hints.
 * @throws Refusal `field_invalid`.
 */
export function judgeOtherFields(request: JsonView, takes: ReadonlySet<Capability>, warnings: RequestWarnings): void {
	for (const name of request.names()) {
		const field = request.member(name);
		if (handledElsewhere.has(name) || !field.isGiven || (name === 'top_k' && takes.has('topK'))) continue;
		if (name !== 'mcp_servers') warnings.add(name, 'ignored');
		else if (field.kind !== 'array' || field.items().length > 0) {
			rejectField(name, 'has no equivalent at the model’s provider: leave it out');
		}
	}
	if (request.member('thinking').member('type').text() === 'between_tools') warnings.add('thinking', 'ignored');
}
