import { Rejection } from '../../../core/rejection.ts';
import { isJsonObject } from '../../json/parse-body.ts';
import { itemsOf } from '../../text-view.ts';
import type { ProviderState, ResponseProgress, StateReference } from '../state.ts';
import { containerOfItem, containersOfTools } from './containers.ts';
import { itemCure, resendCure } from './request-edits.ts';
import { standsForStored } from './stored-items.ts';

/** Responses, conversations and items that OpenAI stores for its account. */
export const responsesState: ProviderState = {
	references(members) {
		const { previous_response_id: previous, conversation, prompt_cache_options: cache } = members;
		const references: StateReference[] = [];
		const add = (id: unknown, param: string, isStored = true): void => {
			if (typeof id === 'string') references.push({ id, param, isStored });
		};
		add(previous, 'previous_response_id');
		add(isJsonObject(conversation) ? conversation.id : conversation, 'conversation');
		if (isJsonObject(cache)) add(cache.comparison_response_id, 'prompt_cache_options.comparison_response_id');
		for (const { id, param } of containersOfTools(members)) add(id, param);
		for (const [index, item] of itemsOf(members.input).entries()) {
			if (!isJsonObject(item)) continue;
			add(item.id, `input[${index}]`, standsForStored(item));
			const container = containerOfItem(item);
			if (container !== undefined) add(container.id, `input[${index}].${container.param}`, false);
		}
		return references;
	},
	rejectReference: ({ param }) =>
		new Rejection('field_invalid', {
			param,
			message: `\`${param}\` is not supported: the provider of this model keeps no responses: ${resendCure}${param.startsWith('input[') ? itemCure : ''}`,
		}),
	runsInBackground: ({ background }) => background === true,
	progressOf(reported) {
		const { id, status } = isJsonObject(reported.response) ? reported.response : reported;
		if (typeof id !== 'string') return undefined;
		return { id, status: (typeof status === 'string' ? statuses.get(status) : undefined) ?? 'complete' };
	},
	storesResponse: ({ store }) => store !== false,
	idsOf({ id, conversation, output, data }) {
		const items = [...itemsOf(output), ...itemsOf(data)];
		return textsIn([id, isJsonObject(conversation) ? conversation.id : undefined, ...items.map(idOf), ...items.map(containerIdOf)]);
	},
	canHaveIds: (event) => eventsWithIds.some((name) => event.includes(name)),
	idsOfEvent({ type, response, item }) {
		if (typeof type !== 'string') return none;
		if (type.startsWith('response.output_item.')) return textsIn([idOf(item), containerIdOf(item)]);
		return eventsOfResponses.has(type) && isJsonObject(response) ? responsesState.idsOf(response) : none;
	},
	containersOf: ({ output, item, response }) => {
		const items = [...itemsOf(output), ...itemsOf(isJsonObject(response) ? response.output : undefined), item];
		return textsIn(items.map(containerIdOf));
	},
};

const none: readonly string[] = [];

/** Other statuses are complete, as is `incomplete`: the output cap ended the response. */
const statuses: ReadonlyMap<string, ResponseProgress['status']> = new Map([
	['queued', 'running'],
	['in_progress', 'running'],
	['failed', 'failed'],
	['cancelled', 'cancelled'],
]);

/** Terminal events repeat the ids of the items, and of servers that change an item's id within a stream, the final ones. */
const eventsOfResponses: ReadonlySet<string> = new Set(['created', 'completed', 'incomplete', 'failed'].map((name) => `response.${name}`));
const eventsWithIds: readonly string[] = [...eventsOfResponses, 'response.output_item.'].map((name) => `"${name}`);

function idOf(item: unknown): unknown {
	return isJsonObject(item) ? item.id : undefined;
}

function containerIdOf(item: unknown): unknown {
	return containerOfItem(item)?.id;
}

function textsIn(values: readonly unknown[]): readonly string[] {
	return values.filter((value): value is string => typeof value === 'string' && value !== '');
}
