/** Clients of the official SDKs, each opened as its own documentation shows. */
import type { Anthropic } from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import type { AnthropicCredential, AnthropicSdk, OpenAiSdk } from '../support/sdk-lines.ts';
import type { Subject } from './subject.ts';

export interface SdkOptions {
	/** Access token of the subject by default. */
	readonly accessToken?: string;
	readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a client without retries and logs, so that a test sees the first response. */
export async function openOpenAi(Sdk: OpenAiSdk, subject: Subject, { accessToken, headers = {} }: SdkOptions = {}): Promise<OpenAI> {
	return new Sdk({
		baseURL: `${subject.baseUrl}/v1`,
		apiKey: accessToken ?? (await subject.accessToken()),
		maxRetries: 0,
		logLevel: 'off',
		defaultHeaders: headers,
	});
}

/** Opens a client without retries and logs, so that a test sees the first response. */
export async function openAnthropic(
	Sdk: AnthropicSdk,
	credential: AnthropicCredential,
	subject: Subject,
	{ accessToken, headers = {} }: SdkOptions = {},
): Promise<Anthropic> {
	return new Sdk({
		baseURL: subject.baseUrl,
		apiKey: null,
		[credential]: accessToken ?? (await subject.accessToken()),
		maxRetries: 0,
		logLevel: 'off',
		defaultHeaders: headers,
	});
}
