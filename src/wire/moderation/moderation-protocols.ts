/** Protocols of all kinds of external moderation providers. */
import { type AzureContentSafetySettings, azureContentSafety } from './azure-content-safety.ts';
import { type BedrockGuardrailSettings, bedrockGuardrail } from './bedrock-guardrail.ts';
import { type ChatJudgeSettings, chatJudge } from './chat-judge.ts';
import type { ModerationProtocol } from './moderation.ts';
import { type OpenaiModerationSettings, openaiModeration } from './openai-moderation.ts';

export type ProtocolSettings = OpenaiModerationSettings | BedrockGuardrailSettings | AzureContentSafetySettings | ChatJudgeSettings;

export const moderationKinds = [
	'openai-moderation',
	'bedrock-guardrail',
	'azure-content-safety',
	'chat-judge',
] as const satisfies readonly ProtocolSettings['kind'][];

export function moderationProtocol(settings: ProtocolSettings): ModerationProtocol {
	switch (settings.kind) {
		case 'openai-moderation':
			return openaiModeration(settings);
		case 'bedrock-guardrail':
			return bedrockGuardrail(settings);
		case 'azure-content-safety':
			return azureContentSafety(settings);
		case 'chat-judge':
			return chatJudge(settings);
	}
}
