import { type ClientDialectName, clientDialectNames } from '../../core/dialect-name.ts';
import type { ClientDialect } from '../dialects/dialect.ts';
import { clientDialects } from '../dialects/dialects.ts';
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

const paths: Readonly<Record<ClientDialectName, string>> = { chat: '/v1/chat/completions', messages: '/v1/messages' };

export const endpoints: readonly Endpoint[] = [
	...clientDialectNames.map((name) => inferenceEndpoint(paths[name], clientDialects[name])),
	countTokens,
];

/** Those whose requests cost something. */
export const inferenceEndpoints: readonly Endpoint[] = endpoints.filter(({ bills }) => bills === 'usage');
