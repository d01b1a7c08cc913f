import type { WireApi, WireTarget } from '../wire.ts';

/** APIs of a vendor that serves OpenAI's dialects. */
interface OpenAiApis {
	readonly chat: WireApi;
	readonly responses: WireApi;
	readonly completions: WireApi;
}

/** Combines the APIs into one, which chooses by the action of the path. */
export function apiByAction({ chat, responses, completions }: OpenAiApis): WireApi {
	const apiOf = ({ action }: WireTarget): WireApi => {
		switch (action) {
			case 'responses':
			case 'compact':
			case 'count':
				return responses;
			case 'completions':
				return completions;
			default:
				return chat;
		}
	};
	return {
		readPrompt: (body, model, target) => apiOf(target).readPrompt(body, model, target),
		openRequest: (body, model, target) => apiOf(target).openRequest(body, model, target),
	};
}
