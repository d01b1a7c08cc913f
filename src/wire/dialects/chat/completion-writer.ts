import { totalTokens, type Usage } from '../../../core/usage.ts';
import { type Citation, citationMembers } from '../../conversation/citation.ts';
import { viewOf } from '../../conversation/json-view.ts';
import {
	type ConversationUsage,
	clientMessage,
	type Finish,
	type FinishReason,
	type ResponseContext,
	type StartedCall,
	type ToolNaming,
} from '../../conversation/response.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { usesFunctions } from './request-tools.ts';

const finishReasons: Readonly<Record<FinishReason, string>> = {
	stop: 'stop',
	calls: 'tool_calls',
	length: 'length',
	filtered: 'content_filter',
	refused: 'content_filter',
};

/** Shared by the streaming and the non-streaming response of one request. */
export abstract class CompletionWriter {
	readonly wantsReasoning = true;
	readonly takesChoices = true;
	protected readonly call: ResponseContext;
	protected readonly isLegacy: boolean;
	protected readonly toolNameOf: ToolNaming;
	protected serviceTier: string | undefined;

	constructor(call: ResponseContext, toolNameOf: ToolNaming) {
		this.call = call;
		this.isLegacy = usesFunctions(viewOf(call.request));
		this.toolNameOf = toolNameOf;
	}

	setServiceTier(tier: string): void {
		this.serviceTier = tier;
	}

	protected completionId(id: unknown): string {
		return `chatcmpl-${typeof id === 'string' && id !== '' ? id.replace(/^(?:msg|resp)_/, '') : this.call.requestId}`;
	}

	protected modelName(model: unknown): string {
		return typeof model === 'string' ? model : this.call.model;
	}

	/** A result could not name a call without an id. */
	protected callId({ id }: StartedCall, completion: string, choice: number, index: number): string {
		if (typeof id === 'string' && id !== '') return id;
		return `call_${completion.slice('chatcmpl-'.length)}${choice === 0 ? '' : `_${choice}`}_${index}`;
	}

	protected finishReason({ reason }: Finish): string {
		return reason === 'calls' && this.isLegacy ? 'function_call' : finishReasons[reason];
	}

	/** True for a custom tool of the client, which is called as a function with one text. */
	protected isCustom(name: string): boolean {
		return !this.isLegacy && itemsOf(this.call.request.tools).some((tool) => isJsonObject(tool) && nameIn(tool.custom) === name);
	}

	/** @returns undefined if no usage is known. */
	protected usageOf({ usage: reported, reportsCacheWrites, reportsReasoning }: ConversationUsage): JsonObject | undefined {
		const usage = clientMessage(reported, this.call);
		return usage && writeUsage(usage, reportsCacheWrites, reportsReasoning);
	}
}

/** Input includes cache reads and writes, output includes reasoning. */
export function writeUsage(usage: Usage, hasCacheWrites = false, hasReasoning = true): JsonObject {
	return {
		prompt_tokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
		completion_tokens: usage.outputTokens,
		total_tokens: totalTokens(usage),
		prompt_tokens_details: {
			cached_tokens: usage.cacheReadTokens,
			...(hasCacheWrites && { cache_write_tokens: usage.cacheWriteTokens }),
		},
		...(hasReasoning && { completion_tokens_details: { reasoning_tokens: usage.reasoningTokens } }),
	};
}

export function annotationOf(citation: Citation): JsonObject {
	return { type: 'url_citation', url_citation: citationMembers(citation) };
}

export function nameIn(definition: unknown): string | undefined {
	return isJsonObject(definition) && typeof definition.name === 'string' ? definition.name : undefined;
}

export function itemsOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}
