import { textOf } from '../../json-value.ts';
import { isMarked, type ModerationWire } from '../moderation-wire.ts';
import { bearerKey } from '../wire.ts';

/** OpenAI's categories, each with the marker that it matches. */
const categories = {
	hate: 'hate',
	'hate/threatening': undefined,
	harassment: undefined,
	'harassment/threatening': undefined,
	'self-harm': undefined,
	'self-harm/intent': undefined,
	'self-harm/instructions': undefined,
	sexual: 'sexual',
	'sexual/minors': undefined,
	violence: 'violence',
	'violence/graphic': undefined,
	illicit: 'misconduct',
	'illicit/violent': undefined,
} as const;

export const moderationWire: ModerationWire = {
	name: 'moderation',
	readKey: bearerKey,
	readModel: (body) => textOf(body['model']),
	judge(body, model) {
		const { input } = body;
		const texts: unknown = typeof input === 'string' ? [input] : input;
		if (!Array.isArray(texts) || texts.length === 0 || !texts.every((text) => typeof text === 'string')) return undefined;
		return {
			id: 'modr-1',
			model,
			results: texts.map((text: string) => {
				const scores = Object.entries(categories).map(([name, mark]) => [name, mark !== undefined && isMarked(text, mark) ? 0.97 : 0.0001]);
				const flags = scores.map(([name, score]) => [name, Number(score) > 0.5]);
				return {
					flagged: flags.some(([, isFlagged]) => isFlagged === true),
					categories: Object.fromEntries(flags) as Record<string, boolean>,
					category_scores: Object.fromEntries(scores) as Record<string, number>,
				};
			}),
		};
	},
	renderError: (status) => ({ error: { message: `The simulator returns ${status}.`, type: 'server_error', param: null, code: null } }),
};
