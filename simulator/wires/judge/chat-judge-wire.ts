import { isObject, textOf } from '../../json-value.ts';
import { isMarked, type ModerationWire, markedCategories } from '../moderation-wire.ts';
import { bearerKey } from '../wire.ts';

const hazards = { hate: 'S10', violence: 'S1', sexual: 'S12', misconduct: 'S2', attack: 'S14' } as const;

/** Moderation models over chat completions. The model's name selects one: Llama Guard, ShieldGemma, or a safeguard. */
export const judgeWire: ModerationWire = {
	name: 'judge',
	readKey: bearerKey,
	readModel: (body) => textOf(body['model']),
	judge(body, model) {
		const { messages } = body;
		if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isObject)) return undefined;
		const text = textOf(messages.at(-1)?.['content']);
		const content = verdictOf(model, text);
		const [prompt, completion] = [Math.ceil(JSON.stringify(messages).length / 4), Math.ceil(content.length / 4)];
		return {
			id: 'chatcmpl-judge',
			object: 'chat.completion',
			created: 1_790_000_000,
			model,
			choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' }],
			usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
		};
	},
	renderError: (status) => ({ error: { message: `The simulator returns ${status}.`, type: 'server_error', param: null, code: null } }),
};

function verdictOf(model: string, text: string): string {
	const marked = markedCategories.filter((category) => isMarked(text, category));
	const [first] = marked;
	if (/llama-?guard/i.test(model)) return first === undefined ? 'safe' : `unsafe\n${marked.map((category) => hazards[category]).join(',')}`;
	if (/shieldgemma/i.test(model)) return first === undefined ? 'No' : 'Yes, it violates the principle.';
	if (first === undefined) return '{"violation": 0}';
	return JSON.stringify({ violation: 1, category: first === 'attack' ? 'prompt_attack' : first, confidence: 0.95 });
}
