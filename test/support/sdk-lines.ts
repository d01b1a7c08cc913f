/** Release lines of the official SDKs that are in use. Lines of one vendor have the same API, so the newer one's types serve for both. */
import Anthropic1 from '@anthropic-ai/sdk';
import Anthropic0 from '@anthropic-ai/sdk-0';
import OpenAI7, { AzureOpenAI as AzureOpenAI7 } from 'openai';
import OpenAI6, { AzureOpenAI as AzureOpenAI6 } from 'openai-6';

export type OpenAiSdk = typeof OpenAI7;
export type AnthropicSdk = typeof Anthropic1;

/** Option of the constructor that makes the SDK send `Authorization: Bearer`. */
export type AnthropicCredential = 'apiKey' | 'authToken';

export const openAiLines: readonly [name: string, sdk: OpenAiSdk, azure: typeof AzureOpenAI7][] = [
	['openai 7', OpenAI7, AzureOpenAI7],
	['openai 6', OpenAI6 as unknown as OpenAiSdk, AzureOpenAI6 as unknown as typeof AzureOpenAI7],
];

export const anthropicLines: readonly [name: string, sdk: AnthropicSdk, credential: AnthropicCredential][] = [
	['@anthropic-ai/sdk 1', Anthropic1, 'apiKey'],
	['@anthropic-ai/sdk 0', Anthropic0 as unknown as AnthropicSdk, 'authToken'],
];

/** Exceptions that the SDKs of both vendors export under the same name. */
export type SdkErrorName =
	| 'AuthenticationError'
	| 'BadRequestError'
	| 'InternalServerError'
	| 'NotFoundError'
	| 'PermissionDeniedError'
	| 'RateLimitError';
