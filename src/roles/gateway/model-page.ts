import { Refusal } from '../../core/refusal.ts';

/** Also what a request without `limit` gets: clients that read one page are to find every model. */
const maxLimit = 1000;

/** Some models of a list, in its order. */
export interface ModelPage<Model> {
	readonly models: readonly Model[];
	/** Whether more follow; with `before_id`, whether more precede. */
	readonly hasMore: boolean;
}

/** The page that `limit`, `after_id` and `before_id` of a query ask for. @throws Refusal `field_invalid` */
export function pageOf<Model extends { readonly id: string }>(all: readonly Model[], query: string): ModelPage<Model> {
	const asked = new URLSearchParams(query);
	const limit = limitOf(asked.get('limit'));
	const [afterId, beforeId] = [asked.get('after_id'), asked.get('before_id')];
	if (beforeId !== null && afterId !== null) throw invalid('before_id', '`before_id` and `after_id` exclude each other: send one of them');
	if (beforeId !== null) {
		const end = indexOf(beforeId, 'before_id', all);
		const start = Math.max(0, end - limit);
		return { models: all.slice(start, end), hasMore: start > 0 };
	}
	const start = afterId === null ? 0 : indexOf(afterId, 'after_id', all) + 1;
	return { models: all.slice(start, start + limit), hasMore: start + limit < all.length };
}

function limitOf(text: string | null): number {
	if (text === null) return maxLimit;
	const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
	if (limit < 1 || limit > maxLimit) throw invalid('limit', `\`limit\` must be a whole number from 1 to ${maxLimit}`);
	return limit;
}

function indexOf(id: string, param: string, all: readonly { readonly id: string }[]): number {
	const index = all.findIndex((model) => model.id === id);
	if (index === -1) throw invalid(param, `\`${param}\` names no model of the list: begin again without it`);
	return index;
}

function invalid(param: string, message: string): Refusal {
	return new Refusal('field_invalid', { param, message });
}
