/**
 * Stores responses between requests, as the Responses API does: `previous_response_id`, item references and the paths under
 * `/v1/responses/{id}`. Bounded; evicts the oldest.
 */
import { createHash } from 'node:crypto';
import { isGiven, isObject, type JsonObject, listOf, objectOf, textOf } from './json-value.ts';
import { VendorError } from './vendor-error.ts';
import { itemIdPrefixes } from './wires/responses/item-id-prefixes.ts';
import type { ResponseStorage, WireAction } from './wires/wire.ts';

export interface StoredResponse {
	readonly response: JsonObject;
	/** Input of the whole conversation, oldest first. */
	readonly input: readonly JsonObject[];
}

/** Request that stores its response, or refers to stored ones. */
export interface ResponseTurn extends ResponseStorage {
	/** Request with everything it refers to. */
	readonly body: JsonObject;
	readonly refersToStored: boolean;
	/** Sets the task that stops a background response. */
	setCancel(cancel: () => void): void;
}

export interface StoredResponses {
	/** @throws VendorError when the vendor would reject the references. */
	open(account: string, body: JsonObject): ResponseTurn;
	/** @throws VendorError when the account has no such response. */
	find(account: string, id: string): StoredResponse;
	/** Cancels a background response. @throws VendorError when it runs in the foreground. */
	cancel(account: string, id: string): StoredResponse;
	delete(account: string, id: string): void;
	clear(): void;
}

interface Retained extends StoredResponse {
	readonly size: number;
	readonly cancel: (() => void) | undefined;
}

interface RetainedItem {
	/** Key of the response that brought the item. */
	readonly owner: string;
	readonly item: JsonObject;
	/** Response that generated the item; undefined for items of clients. */
	readonly source: JsonObject | undefined;
}

const maxRetained = 1000;
const maxUnits = 67_108_864;

interface Memory {
	get(account: string, id: string): Retained | undefined;
	item(account: string, id: string): RetainedItem | undefined;
	/** Adds a response or replaces its earlier state. */
	put(account: string, entry: Retained): void;
	remove(account: string, id: string): void;
	clear(): void;
}

function createMemory(): Memory {
	const retained = new Map<string, Retained>();
	const items = new Map<string, RetainedItem>();
	let units = 0;

	const remove = (owner: string): void => {
		const entry = retained.get(owner);
		if (entry === undefined) return;
		retained.delete(owner);
		units -= entry.size;
		const account = owner.slice(0, owner.lastIndexOf(' '));
		for (const { id } of [...entry.input, ...outputOf(entry.response)]) {
			const key = `${account} ${textOf(id)}`;
			if (items.get(key)?.owner === owner) items.delete(key);
		}
	};

	return {
		get: (account, id) => retained.get(`${account} ${id}`),
		item: (account, id) => items.get(`${account} ${id}`),
		put(account, entry) {
			const owner = `${account} ${textOf(entry.response['id'])}`;
			remove(owner);
			retained.set(owner, entry);
			units += entry.size;
			for (const item of entry.input) {
				const key = `${account} ${textOf(item['id'])}`;
				if (!items.has(key)) items.set(key, { owner, item, source: undefined });
			}
			for (const item of outputOf(entry.response)) {
				items.set(`${account} ${textOf(item['id'])}`, { owner, item, source: entry.response });
			}
			for (const oldest of retained.keys()) {
				if (retained.size <= maxRetained && units <= maxUnits) break;
				remove(oldest);
			}
		},
		remove: (account, id) => remove(`${account} ${id}`),
		clear() {
			retained.clear();
			items.clear();
			units = 0;
		},
	};
}

export function createStoredResponses(): StoredResponses {
	const memory = createMemory();
	const find = (account: string, id: string): Retained => {
		const found = memory.get(account, id);
		if (found === undefined) throw new VendorError('invalid', `Response with id '${id}' not found.`, { status: 404 });
		return found;
	};

	return {
		open(account, body) {
			const input = resolveInput(account, body, memory);
			let inputUnits: number | undefined;
			let cancel: (() => void) | undefined;
			return {
				body: { ...body, input },
				inputItems: input,
				refersToStored: storageOf(body, 'responses') === 'refers',
				store(response) {
					if (body['store'] === false) return;
					inputUnits ??= JSON.stringify(input).length;
					memory.put(account, { response, input, size: inputUnits + JSON.stringify(response).length, cancel });
				},
				setCancel(task) {
					cancel = task;
				},
			};
		},
		find,
		cancel(account, id) {
			const { response, cancel } = find(account, id);
			if (response['background'] !== true) {
				throw new VendorError('invalid', 'Only responses created with background set to true can be cancelled.');
			}
			if (response['status'] === 'queued' || response['status'] === 'in_progress') cancel?.();
			return find(account, id);
		},
		delete(account, id) {
			find(account, id);
			memory.remove(account, id);
		},
		clear: memory.clear,
	};
}

/** Returns the items of the whole conversation. @throws VendorError for a reference to something that is not stored. */
function resolveInput(account: string, body: JsonObject, memory: Memory): JsonObject[] {
	const previousId = body['previous_response_id'];
	const previous = isGiven(previousId) ? memory.get(account, textOf(previousId)) : undefined;
	if (isGiven(previousId) && previous === undefined) {
		const message = `Previous response with id '${textOf(previousId)}' not found.`;
		throw new VendorError('invalid', message, { param: 'previous_response_id', code: 'previous_response_not_found' });
	}
	const given = inputItems(body['input']);
	const history = previous === undefined ? [] : [...previous.input, ...outputOf(previous.response)];
	const ids = new Set([...history, ...given].map((item) => textOf(item['id'])));
	const resolved = given.map((item) => {
		const id = textOf(item['id']);
		if (isReference(item) || (item['type'] === 'reasoning' && needsStored(item))) return storedItem(id, memory.item(account, id));
		checkReasoning(item, memory.item(account, id)?.source, ids);
		return item;
	});
	return [...history, ...resolved].map(withId);
}

function storedItem(id: string, found: RetainedItem | undefined): JsonObject {
	if (found !== undefined) return found.item;
	throw new VendorError(
		'invalid',
		`Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. ` +
			'Try again with `store` set to true, or remove this item from your input.',
		{ status: 404, param: 'input' },
	);
}

/** Rejects a stored call without the reasoning that led to it. */
function checkReasoning(item: JsonObject, source: JsonObject | undefined, given: ReadonlySet<string>): void {
	const { type, id } = item;
	if (source === undefined || (type !== 'function_call' && type !== 'custom_tool_call')) return;
	const missing = outputOf(source).find((other) => other['type'] === 'reasoning' && !given.has(textOf(other['id'])));
	if (missing === undefined) return;
	throw new VendorError(
		'invalid',
		`Item '${textOf(id)}' of type '${type}' was provided without its required 'reasoning' item: '${textOf(missing['id'])}'.`,
		{ param: 'input' },
	);
}

/** Tells whether a request refers to stored responses, or its response is to be stored. */
export function storageOf(body: JsonObject, action: WireAction): 'none' | 'stores' | 'refers' {
	if (isGiven(body['previous_response_id']) || listOf(body['input']).some(mayRefer)) return 'refers';
	return action === 'compact' || (action === 'responses' && body['store'] !== false) ? 'stores' : 'none';
}

/** Items with ids are looked up, because a stored function call needs its reasoning. */
function mayRefer(item: unknown): boolean {
	return isObject(item) && isGiven(item['id']);
}

function isReference(item: JsonObject): boolean {
	const { type, id } = item;
	return type === 'item_reference' || (!isGiven(type) && !('role' in item) && isGiven(id));
}

function needsStored(item: JsonObject): boolean {
	return isGiven(item['id']) && !isGiven(item['encrypted_content']);
}

/** Returns the input as items. A text is a user message. */
export function inputItems(input: unknown): readonly JsonObject[] {
	if (typeof input !== 'string') return listOf(input).map(objectOf);
	return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }];
}

export function outputOf(response: JsonObject): readonly JsonObject[] {
	return listOf(response['output']).map(objectOf);
}

/** Adds the id that a stored item needs. The same item at the same place gets the same one. */
function withId(item: JsonObject, index: number): JsonObject {
	if (isGiven(item['id'])) return item;
	const type = textOf(item['type']) || 'message';
	const digest = createHash('sha256')
		.update(`${index} ${JSON.stringify(item)}`)
		.digest('hex');
	return { id: `${itemIdPrefixes[type] || 'item'}_${digest.slice(0, 50)}`, ...item, type };
}
