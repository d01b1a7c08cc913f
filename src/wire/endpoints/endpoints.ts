import { chat } from '../dialects/chat/chat.ts';
import type { ClientDialect } from '../dialects/dialect.ts';
import { messages } from '../dialects/messages/messages.ts';
import { countTokens } from './count-tokens.ts';
import type { Endpoint } from './endpoint.ts';

/** A model generates text there, whoever provides it: requests are translated where the provider has another dialect. */
function inferenceEndpoint(path: string, dialect: ClientDialect): Endpoint {
	return {
		path,
		dialect,
		bills: 'usage',
		canStream: true,
		response: 'generated',
		estimateFor: () => undefined,
		locate: (provider, model, query, isStreaming) => provider.locate(model, query, isStreaming),
	};
}

export const endpoints: readonly Endpoint[] = [
	inferenceEndpoint('/v1/chat/completions', chat),
	inferenceEndpoint('/v1/messages', messages),
	countTokens,
];

/** Those whose requests cost something. */
export const inferenceEndpoints: readonly Endpoint[] = endpoints.filter(({ bills }) => bills === 'usage');
