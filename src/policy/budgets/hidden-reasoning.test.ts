import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../core/dialect-name.ts';
import { dialects } from '../../wire/dialects/dialects.ts';
import { canHideReasoning, type ReasoningRequest } from './hidden-reasoning.ts';

const openRequest: ReasoningRequest = { kind: 'openai', knownAs: 'gpt-4o', thinking: undefined, requested: undefined };

describe('of a request that says nothing of it', () => {
	it.each([
		['o3-mini', true],
		['ft:o4-mini-2025-04-16:acme::x', true],
		['openai/gpt-5', true],
		['prod-gpt5', true],
		['gpt-5.1-2025-11-13', true],
		['gpt-10', true],
		['gpt-5-chat-latest', false],
		['gpt-5.1-chat-latest', false],
		['gpt-4o-mini-2024-07-18', false],
		['ft:gpt-4o:acme::o3', false],
		['chatgpt-4o-latest', false],
		['gpt-35-turbo', false],
		['claude-opus-5', true],
		['claude-sonnet-5-20260601', true],
		['us.anthropic.claude-opus-4-7-v1:0', true],
		['claude-opus-4-8-20260501', true],
		['claude-opus-4-10', true],
		['claude-opus-4-6', false],
		['claude-sonnet-4-20250514', false],
		['claude-haiku-4-5-20251001', false],
		['claude-3-7-sonnet-20250219', false],
		['claude-2.1', false],
		['gemini-2.5-flash', true],
		['models/gemini-3-pro', true],
		['gemini-2.0-flash-001', false],
		['our-deployment', true],
	])('%s may think unseen: %s', (knownAs, expected) => {
		expect(canHideReasoning({ ...openRequest, knownAs })).toBe(expected);
		expect(canHideReasoning({ ...openRequest, knownAs: knownAs.toUpperCase() })).toBe(expected);
	});

	it('an unknown name behind a compatible server shows what it writes', () => {
		expect(canHideReasoning({ ...openRequest, kind: 'openai-compatible', knownAs: 'qwen3' })).toBe(false);
		expect(canHideReasoning({ ...openRequest, kind: 'openai-compatible', knownAs: 'openai/gpt-5' })).toBe(true);
		expect(canHideReasoning({ ...openRequest, kind: 'azure-openai', knownAs: 'prod' })).toBe(true);
	});

	it('follows the operator’s setting of the model', () => {
		expect(canHideReasoning({ ...openRequest, knownAs: 'prod', thinking: 'none' })).toBe(false);
		expect(canHideReasoning({ ...openRequest, kind: 'openai-compatible', knownAs: 'qwen3', thinking: 'enabled' })).toBe(true);
	});
});

it.each<[DialectName, string, Record<string, unknown>, boolean]>([
	['chat', 'gpt-4o', { reasoning_effort: 'high' }, true],
	['chat', 'gpt-4o', { reasoning: { effort: 'high' } }, true],
	['chat', 'gpt-4o', { thinking: { type: 'enabled' } }, true],
	['chat', 'gpt-5.4', { reasoning_effort: 'none' }, false],
	['chat', 'gpt-5.4', { reasoning_effort: 'none', reasoning: { effort: 'high' } }, true],
	['chat', 'gpt-5.4', { reasoning_effort: null, thinking: { type: 'disabled' } }, true],
	['chat', 'o3', { reasoning_effort: 'none' }, true],
	['chat', 'gpt-5-mini', { reasoning_effort: 'none' }, true],
	['chat', 'prod', { reasoning_effort: 'none' }, false],
	['messages', 'claude-opus-5', { thinking: { type: 'disabled' } }, false],
	['messages', 'claude-opus-5', { thinking: { type: 'adaptive', display: 'omitted' } }, true],
	['messages', 'claude-sonnet-4-5', { thinking: { type: 'enabled', budget_tokens: 2000 } }, true],
	['messages', 'claude-opus-5', { reasoning_effort: 'none' }, true],
	['gemini', 'gemini-2.5-flash', { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }, false],
	['gemini', 'gemini-2.5-pro', { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }, true],
	['gemini', 'gemini-2.0-flash', { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } }, true],
	['gemini', 'gemini-2.5-flash', { generationConfig: { thinkingConfig: null } }, true],
	['gemini-openai', 'gemini-2.5-flash', { thinking: { type: 'disabled' } }, true],
])('%s of %s with %j: %s', (wire, knownAs, request, expected) => {
	expect(canHideReasoning({ ...openRequest, knownAs, requested: dialects[wire].requestsThinking(request) })).toBe(expected);
});
