/** Recorded responses of the providers whose format the gateway passes through, and the matching requests. */
import { type Recording, readRecordings } from '../support/recordings.ts';

/** By folder of the recordings. `wire` is the simulator's dialect. */
export const providers = {
	openai: { wire: 'openai', provider: 'provider_b', path: '/v1/chat/completions', model: 'gpt-4o-mini' },
	azure: { wire: 'azure', provider: 'provider_d', path: '/v1/chat/completions', model: 'team-deployment' },
	anthropic: { wire: 'anthropic', provider: 'provider_a', path: '/v1/messages', model: 'claude-sonnet-4-5' },
	responses: { wire: 'openai', provider: 'provider_b', path: '/v1/responses', model: 'gpt-5-mini' },
} as const;

export type Vendor = keyof typeof providers;

export function bodyOf(vendor: Vendor, { request, response }: Recording): Record<string, unknown> {
	if (request !== undefined) return request.body;
	const { model, path } = providers[vendor];
	const stream = response.sse !== undefined;
	// Requests usage, because the client does not receive usage that it did not request.
	const requested = stream && path === '/v1/chat/completions' ? { stream_options: { include_usage: true } } : {};
	const messages = [{ role: 'user', content: 'Grüße, 世界 / "\u{1F600}"' }];
	// `store` is set, because the gateway would add it.
	if (path === '/v1/responses') return { model, max_output_tokens: 64, input: messages, stream, store: false };
	return { model, max_tokens: 64, messages, stream, ...requested };
}

/** Returns 502 for the statuses that concern only the gateway. */
export function expectedStatus(status: number): number {
	return [401, 403, 404].includes(status) || status >= 500 ? 502 : status;
}

export const recordings = (Object.keys(providers) as Vendor[]).flatMap((vendor) =>
	readRecordings(vendor).map((recording) => [recording.name, vendor, recording] as const),
);
