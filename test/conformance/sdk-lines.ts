/** Release lines of the official SDKs that are in use, each opened as its own documentation shows. */
import Anthropic1 from '@anthropic-ai/sdk';
import Anthropic0 from '@anthropic-ai/sdk-0';
import OpenAI7 from 'openai';
import OpenAI6 from 'openai-6';
import type { Subject } from './subject.ts';

export type OpenAiSdk = typeof OpenAI7;
export type AnthropicSdk = typeof Anthropic1;

/** Option of the constructor that makes the SDK send `Authorization: Bearer`. */
export type AnthropicCredential = 'apiKey' | 'authToken';

export const openAiLines: readonly [name: string, sdk: OpenAiSdk][] = [
	['openai 7', OpenAI7],
	['openai 6', OpenAI6 as unknown as OpenAiSdk],
];

export const anthropicLines: readonly [name: string, sdk: AnthropicSdk, credential: AnthropicCredential][] = [
	['@anthropic-ai/sdk 1', Anthropic1, 'apiKey'],
	['@anthropic-ai/sdk 0', Anthropic0 as unknown as AnthropicSdk, 'authToken'],
];

export interface SdkOptions {
	/** Access token of the subject by default. */
	readonly accessToken?: string;
	readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a client without retries and logs, so that a test sees the first response. */
export async function openOpenAi(OpenAI: OpenAiSdk, subject: Subject, { accessToken, headers = {} }: SdkOptions = {}): Promise<OpenAI7> {
	return new OpenAI({
		baseURL: `${subject.baseUrl}/v1`,
		apiKey: accessToken ?? (await subject.accessToken()),
		maxRetries: 0,
		logLevel: 'off',
		defaultHeaders: headers,
	});
}

/** Opens a client without retries and logs, so that a test sees the first response. */
export async function openAnthropic(
	Anthropic: AnthropicSdk,
	credential: AnthropicCredential,
	subject: Subject,
	{ accessToken, headers = {} }: SdkOptions = {},
): Promise<Anthropic1> {
	return new Anthropic({
		baseURL: subject.baseUrl,
		apiKey: null,
		[credential]: accessToken ?? (await subject.accessToken()),
		maxRetries: 0,
		logLevel: 'off',
		defaultHeaders: headers,
	});
}
