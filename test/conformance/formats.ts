/** Properties of the endpoints and client formats that tests of all of them need. */

export interface EndpointUnderTest {
	readonly name: 'chat' | 'messages' | 'responses' | 'completions' | 'embeddings';
	readonly path: string;
	/** Prefix of model names of the endpoint's own provider: `gpt-sim-hang` selects the simulator's `hang` there. */
	readonly family: string;
	/** Returns a short request. @param extra further fields. */
	question(model: string, extra?: Readonly<Record<string, unknown>>, text?: string): Record<string, unknown>;
}

/** Endpoint of conversations, which can stream. */
export interface FormatUnderTest extends EndpointUnderTest {
	readonly name: 'chat' | 'messages' | 'responses';
	readonly wire: 'openai' | 'anthropic';
	readonly provider: string;
	/** End of a complete stream, and of no other. */
	readonly end: RegExp;
	/** Names of the events that end a broken stream; undefined for an event without a name. */
	readonly errorEvents: readonly (string | undefined)[];
}

const hello = 'Say hello.';

function turnsOf(model: string, extra: Readonly<Record<string, unknown>> = {}, text = hello): Record<string, unknown> {
	return { model, max_tokens: 4000, messages: [{ role: 'user', content: text }], ...extra };
}

export const chatFormat: FormatUnderTest = {
	name: 'chat',
	path: '/v1/chat/completions',
	family: 'gpt',
	wire: 'openai',
	provider: 'provider_b',
	end: /\n\ndata: \[DONE\]\n\n$/,
	errorEvents: [undefined],
	question: turnsOf,
};

export const messagesFormat: FormatUnderTest = {
	name: 'messages',
	path: '/v1/messages',
	family: 'claude',
	wire: 'anthropic',
	provider: 'provider_a',
	end: /\n\nevent: message_stop\ndata: \{"type":"message_stop"\s*\}\s*\n\n$/,
	errorEvents: ['error'],
	question: turnsOf,
};

export const responsesFormat: FormatUnderTest = {
	name: 'responses',
	path: '/v1/responses',
	family: 'gpt',
	wire: 'openai',
	provider: 'provider_b',
	end: /\n\nevent: response\.completed\ndata: \{"type":"response\.completed",.*\}\n\n$/,
	errorEvents: ['error', 'response.failed'],
	// `store` is set, because the gateway would add it.
	question: (model, extra = {}, text = hello) => ({
		model,
		max_output_tokens: 4000,
		store: false,
		input: [{ role: 'user', content: text }],
		...extra,
	}),
};

const completionsEndpoint: EndpointUnderTest = {
	name: 'completions',
	path: '/v1/completions',
	family: 'gpt-3.5-turbo-instruct',
	question: (model, extra = {}, text = hello) => ({ model, max_tokens: 50, prompt: text, ...extra }),
};

const embeddingsEndpoint: EndpointUnderTest = {
	name: 'embeddings',
	path: '/v1/embeddings',
	family: 'text-embedding-3-small',
	question: (model, extra = {}, text = hello) => ({ model, input: text, ...extra }),
};

const formats: readonly FormatUnderTest[] = [chatFormat, messagesFormat, responsesFormat];

/** Cases for `describe.each`, by path. */
export const allFormats = formats.map((format): readonly [path: string, format: FormatUnderTest] => [format.path, format]);

/** Cases for `describe.each`, by path. */
export const allEndpoints = [...formats, completionsEndpoint, embeddingsEndpoint].map(
	(endpoint): readonly [path: string, endpoint: EndpointUnderTest] => [endpoint.path, endpoint],
);

/** Body of an error that the gateway itself generates. */
export interface GatewayErrorBody {
	readonly type: 'error';
	readonly error: { readonly type: string; readonly message: string; readonly code: string; readonly param: string | null };
	readonly request_id: string;
}
