/** Settings of simulated providers that serve OpenAI's chat completions. */
const access = { api_key: 'simulator-key', allow_private_network: true };

/** Gemini through its OpenAI-compatible API. */
export function compatibleGemini(simulatorUrl: string): object {
	return { kind: 'gemini', dialect: 'openai', base_url: `${simulatorUrl}/gemini`, ...access };
}

/** Inference server of an operator. */
export function compatibleServer(simulatorUrl: string): object {
	return { kind: 'openai-compatible', base_url: `${simulatorUrl}/openai/v1`, ...access };
}
