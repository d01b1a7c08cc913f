import { rejectField } from '../../conversation/reject-field.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import type { ClaudeModel } from './model.ts';

interface MessageTurn {
	readonly role: 'user' | 'assistant' | 'system';
	readonly content: JsonObject[];
}

/** Turns as the provider takes them: neighbours of one role joined. */
export class TurnList {
	readonly system: JsonObject[] = [];
	readonly #turns: MessageTurn[] = [];

	add(role: MessageTurn['role'], blocks: readonly JsonObject[]): void {
		const last = this.#turns.at(-1);
		if (last?.role !== role) this.#turns.push({ role, content: [...blocks] });
		else for (const block of blocks) last.content.push(block);
	}

	/** No turn yet. */
	get isEmpty(): boolean {
		return this.#turns.length === 0;
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

	/** @throws Refusal `field_invalid` for what cannot be continued by the model. */
	finish(model: ClaudeModel): readonly MessageTurn[] {
		const last = this.#turns.at(-1);
		if (!this.#turns.some((turn) => turn.role === 'user')) rejectField('messages', 'must hold a user message with content');
		if (last?.role !== 'assistant') return this.#turns;
		if (!model.takesPrefill) {
			rejectField('messages', 'must not end with an assistant message: this model does not continue one. End with a user message');
		}
		const text = last.content.at(-1);
		if (typeof text?.text === 'string') last.content[last.content.length - 1] = { ...text, text: text.text.trimEnd() };
		return this.#turns;
	}
}
