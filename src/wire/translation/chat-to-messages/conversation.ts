import type { JsonObject } from '../../json/parse-body.ts';
import { refuseField } from '../refuse-field.ts';
import type { ClaudeModel } from './claude-model.ts';

interface Turn {
	readonly role: 'user' | 'assistant' | 'system';
	readonly content: JsonObject[];
}

/** A call that the provider wants answered in the very next user turn. */
export interface OpenCall {
	readonly id: string;
	readonly name: string;
	/** Where the caller made it. */
	readonly path: string;
}

const noCalls: ReadonlyMap<string, OpenCall> = new Map();

/** Turns as the provider takes them: neighbours of one role joined, and each call answered right after its turn. */
export class Conversation {
	readonly system: JsonObject[] = [];
	readonly #turns: Turn[] = [];
	/** By id, in their order. */
	#calls: ReadonlyMap<string, OpenCall> = noCalls;
	readonly #results = new Map<string, JsonObject>();

	/** @throws Refusal `field_invalid` for calls that were not answered. */
	addTurn(role: Turn['role'], blocks: readonly JsonObject[], calls: readonly OpenCall[] = []): void {
		this.#closeCalls();
		const last = this.#turns.at(-1);
		if (last?.role !== role) this.#turns.push({ role, content: [...blocks] });
		else for (const block of blocks) last.content.push(block);
		this.#calls = calls.length === 0 ? noCalls : new Map(calls.map((call) => [call.id, call]));
	}

	/** @throws Refusal `field_invalid` for a result that belongs to no call of the turn before. */
	addResult(id: string, content: readonly JsonObject[] | string, path: string): void {
		if (!this.#calls.has(id)) {
			refuseField(path, 'names no tool call of the assistant message before it: send each result right after its call');
		}
		if (this.#results.has(id)) refuseField(path, 'names a tool call that has a result already: send one result for each call');
		this.#results.set(id, { type: 'tool_result', tool_use_id: id, ...(content.length > 0 && { content }) });
	}

	/** The id of the last call when it is of that name, for results that name no id. */
	lastCallOf(name: unknown): string | undefined {
		const last = [...this.#calls.values()].at(-1);
		return last?.name === name ? last?.id : undefined;
	}

	/** No turn yet. */
	get isFresh(): boolean {
		return this.#turns.length === 0;
	}

	/** Calls wait for results: nothing may stand between. */
	get isAwaitingResults(): boolean {
		return this.#calls.size > this.#results.size;
	}

	/** The turn that thinking must have opened, had it been on, was called without it or has lost it. */
	get hasLostThinking(): boolean {
		const last = this.#turns.at(-1);
		if (last?.role !== 'user' || last.content[0]?.type !== 'tool_result') return false;
		const first = this.#turns.at(-2)?.content[0]?.type;
		return first !== 'thinking' && first !== 'redacted_thinking';
	}

	/** Names of the tools called so far, each once. */
	get calledTools(): readonly string[] {
		const uses = this.#turns.flatMap((turn) => turn.content.filter((block) => block.type === 'tool_use'));
		return [...new Set(uses.map((use) => String(use.name)))];
	}

	/** @throws Refusal `field_invalid` for what is left open, or cannot be continued by the model. */
	finish(model: ClaudeModel): readonly Turn[] {
		this.#closeCalls();
		const last = this.#turns.at(-1);
		if (!this.#turns.some((turn) => turn.role === 'user')) refuseField('messages', 'must hold a user message with content');
		if (last?.role !== 'assistant') return this.#turns;
		if (!model.takesPrefill) {
			refuseField('messages', 'must not end with an assistant message: this model does not continue one. End with a user message');
		}
		const text = last.content.at(-1);
		if (typeof text?.text === 'string') last.content[last.content.length - 1] = { ...text, text: text.text.trimEnd() };
		return this.#turns;
	}

	/** One user turn with all results, in the order of the calls. */
	#closeCalls(): void {
		if (this.#calls.size === 0) return;
		const results = [...this.#calls.values()].map(({ id, path }) => {
			return this.#results.get(id) ?? refuseField(path, 'has no result: send a `tool` message for each call right after its message');
		});
		this.#turns.push({ role: 'user', content: results });
		this.#calls = noCalls;
		this.#results.clear();
	}
}
