/** Requests that load every target. */

export const responseText = 'The quick brown fox jumps over the lazy dog. '.repeat(8).trim();

/** Non-streaming response of the fake provider. */
export const chatResponse = JSON.stringify({
	id: 'chatcmpl-bench',
	object: 'chat.completion',
	created: 1_790_000_000,
	model: 'gpt-4o',
	choices: [{ index: 0, message: { role: 'assistant', content: responseText, refusal: null }, logprobs: null, finish_reason: 'stop' }],
	usage: { prompt_tokens: 200, completion_tokens: 80, total_tokens: 280 },
});

/** A chat-completions request of about `bytes` bytes. */
export function chatRequest(bytes: number, options: { isStreaming?: boolean } = {}): string {
	const frame = {
		model: 'gpt-4o',
		messages: [{ role: 'user', content: '' }],
		max_tokens: 100,
		...(options.isStreaming === true && { stream: true }),
	};
	const sentence = 'Summarise what was said so far, and "quote" the figures.\n';
	const length = Math.max(0, bytes - JSON.stringify(frame).length);
	frame.messages[0] = { role: 'user', content: sentence.repeat(Math.ceil(length / sentence.length)).slice(0, Math.floor(length * 0.95)) };
	return JSON.stringify(frame);
}
