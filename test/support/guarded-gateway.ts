/**
 * Fixtures of guardrail tests: rules that are off except those a test names, a moderation provider, and provider responses in each dialect.
 */
import { contentCategories } from '../../src/policy/guardrails/content/content-category.ts';
import type { RuleAction } from '../../src/policy/guardrails/guardrail.ts';
import type { GuardrailSettings } from '../../src/policy/guardrails/guardrails.ts';
import { type PiiKind, piiKinds } from '../../src/policy/guardrails/pii/pii-kind.ts';
import type { ModerationProviderSettings } from '../../src/roles/gateway/moderation/moderation-settings.ts';

/** Enforced guardrails: the word `darkfish` is blocked, and all other policies are off. */
export function guardrailsWith(rules: Partial<GuardrailSettings> = {}): GuardrailSettings {
	return {
		isEnforced: true,
		content: contentAt('none'),
		pii: piiRules('none'),
		masksResponses: true,
		words: { entries: ['darkfish'], action: 'block' },
		patterns: [],
		topics: [],
		unreadable: 'pass',
		monitored: [],
		teams: {},
		...rules,
	};
}

export function contentAt(strength: 'none' | 'medium'): GuardrailSettings['content'] {
	return Object.fromEntries(contentCategories.map((category) => [category, { strength, action: 'block' }])) as GuardrailSettings['content'];
}

export function piiRules(action: RuleAction, others: Partial<Record<PiiKind, RuleAction>> = {}): GuardrailSettings['pii'] {
	return { ...(Object.fromEntries(piiKinds.map((kind) => [kind, action])) as GuardrailSettings['pii']), ...others };
}

export const gambling = { name: 'gambling', description: 'Betting', examples: [], keywords: ['roulette'], action: 'block' } as const;

/** Moderation provider at `https://engine.test`, free of charge. */
export function moderationWith(settings: Partial<ModerationProviderSettings> = {}): ModerationProviderSettings {
	return {
		name: 'mod',
		action: 'block',
		protocol: { kind: 'openai-moderation', apiKey: null, model: null },
		baseUrl: 'https://engine.test/v1',
		canReachPrivateNetwork: false,
		awsCredentials: null,
		timeoutMs: 2000,
		maxConcurrent: 8,
		onFailure: 'open',
		thresholds: { log: 0.5, block: 0.8 },
		price: { inputPicoUsd: 0n, outputPicoUsd: 0n, thousandUnitsNanoUsd: 0n },
		...settings,
	};
}

export const callerPaths = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;
export type CallerFormat = keyof typeof callerPaths;

type Wire = CallerFormat | 'gemini';

/** Non-streaming responses, as a provider of the dialect writes them. */
export const nonStreamingResponses: Readonly<Record<Wire, (text: string) => string>> = {
	chat: (content) =>
		JSON.stringify({
			id: 'c',
			object: 'chat.completion',
			created: 1,
			model: 'm',
			choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
			usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
		}),
	messages: (text) => JSON.stringify({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn' }),
	gemini: (text) => JSON.stringify(geminiChunk(text, true)),
};

const message = {
	id: 'm',
	type: 'message',
	role: 'assistant',
	model: 'm',
	content: [],
	stop_reason: null,
	stop_sequence: null,
	usage: { input_tokens: 3, output_tokens: 4 },
};

function geminiChunk(text: string, isLast: boolean): object {
	return {
		candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...(isLast && { finishReason: 'STOP' }) }],
		usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
		modelVersion: 'm',
	};
}

const data = (event: unknown): string => `data: ${JSON.stringify(event)}\n\n`;
const named = (event: { type: string } & Record<string, unknown>): string => `event: ${event.type}\n${data(event)}`;

export function chatChunk(delta: object, finish_reason: string | null = null): string {
	return data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] });
}

/** Events of streams with these text deltas. */
export const responseEvents: Readonly<Record<Wire, (pieces: readonly string[]) => string[]>> = {
	chat: (pieces) => [
		chatChunk({ role: 'assistant', content: '' }),
		...pieces.map((content) => chatChunk({ content })),
		chatChunk({}, 'stop'),
		'data: [DONE]\n\n',
	],
	messages: (pieces) => [
		named({ type: 'message_start', message }),
		named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
		...pieces.map((text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
		named({ type: 'content_block_stop', index: 0 }),
		named({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 4 } }),
		named({ type: 'message_stop' }),
	],
	gemini: (pieces) => pieces.map((text, index) => data(geminiChunk(text, index === pieces.length - 1))),
};
