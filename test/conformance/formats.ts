/** Properties of the two client formats that tests of both need. */

export interface FormatUnderTest {
	readonly name: 'chat' | 'messages';
	readonly path: string;
	/** Prefix of model names of the format's own provider: `gpt-sim-hang` selects the simulator's `hang` there. */
	readonly family: 'gpt' | 'claude';
	readonly wire: 'openai' | 'anthropic';
	readonly provider: string;
	/** End of a complete stream, and of no other. */
	readonly end: RegExp;
}

export const chatFormat: FormatUnderTest = {
	name: 'chat',
	path: '/v1/chat/completions',
	family: 'gpt',
	wire: 'openai',
	provider: 'provider_b',
	end: /\n\ndata: \[DONE\]\n\n$/,
};

export const messagesFormat: FormatUnderTest = {
	name: 'messages',
	path: '/v1/messages',
	family: 'claude',
	wire: 'anthropic',
	provider: 'provider_a',
	end: /\n\nevent: message_stop\ndata: \{"type":"message_stop"\s*\}\s*\n\n$/,
};

/** Cases for `describe.each`, by path. */
export const bothFormats: readonly (readonly [path: string, format: FormatUnderTest])[] = [chatFormat, messagesFormat].map((format) => [
	format.path,
	format,
]);

export function question(model: string, extra: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
	return { model, max_tokens: 4000, messages: [{ role: 'user', content: 'Say hello.' }], ...extra };
}

/** Body of an error that the gateway itself generates (contract 5). */
export interface GatewayErrorBody {
	readonly type: 'error';
	readonly error: { readonly type: string; readonly message: string; readonly code: string; readonly param: string | null };
	readonly request_id: string;
}
