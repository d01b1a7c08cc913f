/** Stores conversations of the Anthropic dialect between requests (`thread`, beta message-threads). Bounded; evicts the oldest. */
import { isGiven, isObject, type JsonObject, listOf, objectOf, textOf } from './json-value.ts';
import { VendorError } from './vendor-error.ts';
import { headerText, type WireTarget } from './wires/wire.ts';

export interface ThreadTurn {
	/** Request for the whole conversation. */
	readonly body: JsonObject;
	/** Stores the complete response, so that the next turn can continue from it. */
	keep(messageId: string, content: readonly JsonObject[]): void;
	/** Ends the request, whether or not its response was stored. */
	end(): void;
}

export interface Threads {
	/** @throws VendorError when the vendor would reject the turn. */
	open(account: string, body: JsonObject, target: WireTarget): ThreadTurn;
	clear(): void;
}

interface Retained {
	readonly body: JsonObject;
	readonly size: number;
	isContinued: boolean;
	isInFlight: boolean;
}

const beta = 'message-threads-2026-08-12';
/** Fields that only the turn that creates a thread can set. */
const createOnly = ['system', 'tools'];
const unsupportedFields = ['context_management', 'fallbacks'];
const maxRetained = 1000;
const maxUnits = 67_108_864;

export function createThreads(): Threads {
	const retained = new Map<string, Retained>();
	let units = 0;

	const cache = (key: string, entry: Retained): void => {
		retained.set(key, entry);
		units += entry.size;
		for (const [oldest, { size }] of retained) {
			if (retained.size <= maxRetained && units <= maxUnits) break;
			retained.delete(oldest);
			units -= size;
		}
	};

	return {
		open(account, body, target) {
			const { thread, ...rest } = body;
			if (!headerText(target.headers, 'anthropic-beta').includes(beta)) {
				throw new VendorError('invalid', 'thread: Extra inputs are not permitted');
			}
			const unsupported = unsupportedFields.filter((field) => isGiven(body[field]));
			if (unsupported.length > 0) {
				throw threadError('thread_unsupported_request', `thread: not supported together with ${unsupported.join(', ')}`, { unsupported });
			}
			const previous = previousOf(objectOf(thread), account, retained);
			const whole = previous === undefined ? rest : continued(previous.body, rest);
			if (previous !== undefined && target.action === 'generate') previous.isInFlight = true;
			return {
				body: whole,
				keep(messageId, content) {
					if (previous !== undefined) previous.isContinued = true;
					const messages = [...listOf(whole['messages']), { role: 'assistant', content }];
					const size = JSON.stringify(content).length + (previous?.size ?? 0) + JSON.stringify(rest).length;
					cache(`${account} ${messageId}`, { body: { ...whole, messages }, size, isContinued: false, isInFlight: false });
				},
				end() {
					if (previous !== undefined) previous.isInFlight = false;
				},
			};
		},
		clear() {
			retained.clear();
			units = 0;
		},
	};
}

function previousOf(thread: JsonObject, account: string, retained: ReadonlyMap<string, Retained>): Retained | undefined {
	if (thread['type'] === 'create') return undefined;
	if (thread['type'] !== 'continue') {
		throw new VendorError(
			'invalid',
			`thread: Input tag '${textOf(thread['type'])}' does not match any of the expected tags: 'create', 'continue'`,
		);
	}
	const id = textOf(thread['previous_message_id']);
	if (id === '') throw new VendorError('invalid', 'thread.continue.previous_message_id: Field required');
	const previous = retained.get(`${account} ${id}`);
	if (previous === undefined) {
		throw threadError('thread_not_found', `No usable thread state was found for previous_message_id ${id}.`, {}, 404);
	}
	if (previous.isContinued) throw threadError('thread_already_continued', `The response ${id} has already been continued.`);
	if (previous.isInFlight) throw threadError('thread_continue_in_flight', `Another request is still continuing from ${id}.`);
	return previous;
}

function continued(previous: JsonObject, turn: JsonObject): JsonObject {
	const changed = createOnly.filter((field) => isGiven(turn[field]) && JSON.stringify(turn[field]) !== JSON.stringify(previous[field]));
	if (changed.length > 0) {
		throw threadError('thread_fingerprint_mismatch', `${changed.join(', ')}: must stay the same across the turns of a thread.`);
	}
	const fixed = Object.fromEntries(createOnly.filter((field) => field in previous).map((field) => [field, previous[field]]));
	return { ...turn, ...fixed, messages: [...listOf(previous['messages']), ...listOf(turn['messages'])] };
}

function threadError(code: string, message: string, more: JsonObject = {}, status = 400): VendorError {
	return new VendorError('invalid', message, { status, details: { error_code: code, ...more } });
}

export function hasThread(body: JsonObject): boolean {
	return isObject(body['thread']);
}
