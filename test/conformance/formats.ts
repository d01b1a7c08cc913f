/** Properties of the client formats that tests of all of them need. */

export interface FormatUnderTest {
	readonly name: 'chat' | 'messages' | 'responses';
	readonly path: string;
	/** Prefix of model names of the format's own provider: `gpt-sim-hang` selects the simulator's `hang` there. */
	readonly family: 'gpt' | 'claude';
	readonly wire: 'openai' | 'anthropic';
	readonly provider: string;
	/** End of a complete stream, and of no other. */
	readonly end: RegExp;
	/** Names of the events that end a broken stream; undefined for an event without a name. */
	readonly errorEvents: readonly (string | undefined)[];
	/** Returns a short request. @param extra further fields. */
	question(model: string, extra?: Readonly<Record<string, unknown>>, text?: string): Record<string, unknown>;
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

/** Cases for `describe.each`, by path. */
export const allFormats: readonly (readonly [path: string, format: FormatUnderTest])[] = [chatFormat, messagesFormat, responsesFormat].map(
	(format) => [format.path, format],
);

/** Body of an error that the gateway itself generates (contract 5). */
export interface GatewayErrorBody {
	readonly type: 'error';
	readonly error: { readonly type: string; readonly message: string; readonly code: string; readonly param: string | null };
	readonly request_id: string;
}
