import type { InputContent, RequestSize } from '../../../core/cost-factors.ts';
import { surchargedField } from '../../../policy/budgets/cost.ts';
import { measureText } from '../../../policy/budgets/estimate.ts';
import type { Dialect } from '../../../wire/dialects/dialect.ts';
import type { JsonBody } from '../../../wire/json/parse-body.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { type InferenceRequest, runsInBackground } from './read-inference-request.ts';

/** Measures a request as its provider receives it. */
export function sizeOfPrepared(prepared: PreparedRequest): RequestSize {
	return sizeOf(prepared, prepared.outgoing, prepared.providerFormat);
}

/** Measures a request for which no target was prepared. */
export function sizeOfReceived(inferenceRequest: InferenceRequest): RequestSize {
	return sizeOf(inferenceRequest, inferenceRequest.body, inferenceRequest.format);
}

/** Measures the bytes that are sent. The client's dialect is the one that identifies their content. */
function sizeOf(received: InferenceRequest, sent: JsonBody, sentFormat: Dialect): RequestSize {
	const content = contentOf(received);
	const { writtenTokens, boundTokens, contextWindows, prompts } = measureText(sent, content);
	const { capTokens = null, choices, defaultTokens = null } = sentFormat.requestedOutput(sent.members);
	const hasHostedTools = content.serverTools > 0;
	return {
		writtenTokens,
		boundTokens,
		contextWindows,
		prompts,
		capTokens,
		hasOwnCap: received.format.requestedOutput(received.body.members).capTokens !== undefined,
		choices,
		defaultTokens,
		cacheWrites: sentFormat.cacheWrites(sent.bytes),
		hasHostedTools,
		maxToolCalls: (hasHostedTools ? sentFormat.toolCallCap?.requested(sent.members) : undefined) ?? null,
		surchargedField: surchargedField(sent.members, sentFormat.surcharges) ?? null,
		requestsThinking: sentFormat.requestsThinking(sent.members) ?? null,
		isBackground: runsInBackground(received),
	};
}

/** Stored input counts as an attachment: the request does not show its size either. */
function contentOf({ format, body: { members }, stateMode }: InferenceRequest): InputContent {
	const content = format.inputContent(members);
	const hasStoredInput = stateMode !== 'off' && format.state?.references(members).some(({ isStored }) => isStored) === true;
	return hasStoredInput ? { ...content, attachments: content.attachments + 1 } : content;
}
