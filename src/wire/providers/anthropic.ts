import { fixedPath, type Protocol } from './protocol.ts';

/** `reset` is a time by RFC 3339. */
const rateLimits = (['requests', 'tokens', 'input_tokens', 'output_tokens'] as const).map((kind) => {
	const name = `anthropic-ratelimit-${kind.replace('_', '-')}`;
	return { kind, limit: `${name}-limit`, remaining: `${name}-remaining`, reset: `${name}-reset` };
});

export const anthropic: Protocol = {
	conversation: 'messages',
	apis: { messages: fixedPath('/v1/messages') },
	countPath: '/v1/messages/count_tokens',
	authenticate: (apiKey) => ({ 'x-api-key': apiKey }),
	// The version that every model takes; clients that send none were written against it.
	defaultHeaders: { 'anthropic-version': '2023-06-01' },
	// Clients gain capabilities by new fields, such as `anthropic-beta`, and pair them with fields of the body.
	forwardedPrefix: { prefix: 'anthropic-', except: new Set(['anthropic-workspace-id', 'anthropic-organization-id']) },
	// Takes precedence: the SDKs always send `anthropic-version`, whereas this field is set on purpose.
	forwards: [{ from: 'provider-a-version', to: 'anthropic-version' }],
	rateLimits,
	spendStops: ['enforced_spend_limit_reached', 'contract_spend_limit_reached', 'ramp_limit_exceeded'],
};
