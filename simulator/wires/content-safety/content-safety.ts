import { isMarked, type ModerationWire } from '../moderation-wire.ts';
import { headerText } from '../wire.ts';

const names = { Hate: 'hate', SelfHarm: undefined, Sexual: 'sexual', Violence: 'violence' } as const;

/** `text:analyze` of Azure AI Content Safety. */
export const contentSafetyWire: ModerationWire = {
	name: 'content-safety',
	readKey: (headers) => headerText(headers, 'ocp-apim-subscription-key'),
	readModel: () => '',
	judge(body) {
		const { text } = body;
		if (typeof text !== 'string' || text.length > 10_000) return undefined;
		return {
			blocklistsMatch: [],
			categoriesAnalysis: Object.entries(names).map(([category, mark]) => ({
				category,
				severity: mark !== undefined && isMarked(text, mark) ? 6 : 0,
			})),
		};
	},
	renderError: (status) => ({
		error: { code: status === 400 ? 'InvalidRequestBody' : 'InternalServerError', message: `The simulator returns ${status}.` },
	}),
};
