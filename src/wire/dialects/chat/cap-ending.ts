import type { Usage } from '../../../core/usage.ts';
import { EventBatch } from '../../events/event-batch.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import type { CapEnding } from '../dialect.ts';
import { writeUsage } from './completion-writer.ts';

/** Members that all chunks of a stream share. */
const commonMembers = ['id', 'object', 'created', 'model', 'service_tier', 'system_fingerprint'] as const;

export class ChatCapEnding implements CapEnding {
	readonly #choices: number;
	/** Content of a choice that adds nothing. */
	readonly #noContent: JsonObject;
	readonly #hasUsage: boolean;
	#common: JsonObject | undefined;
	readonly #finished = new Set<unknown>();

	constructor({ stream_options: options }: JsonObject, choices: number, noContent: JsonObject) {
		this.#choices = choices;
		this.#noContent = noContent;
		this.#hasUsage = isJsonObject(options) && options.include_usage === true;
	}

	push({ events }: EventBatch): void {
		for (const event of events) {
			const chunk = event.json();
			if (chunk === undefined || !Array.isArray(chunk.choices)) continue;
			this.#common ??= Object.fromEntries(commonMembers.filter((name) => chunk[name] !== undefined).map((name) => [name, chunk[name]]));
			for (const choice of chunk.choices as readonly unknown[]) {
				if (isJsonObject(choice) && typeof choice.finish_reason === 'string') this.#finished.add(choice.index ?? 0);
			}
		}
	}

	end(usage: Usage): EventBatch | undefined {
		const common = this.#common;
		if (common === undefined) return undefined;
		const noUsageYet = this.#hasUsage ? { usage: null } : {};
		const chunks: JsonObject[] = [];
		for (let index = 0; index < this.#choices; index++) {
			if (this.#finished.has(index)) continue;
			chunks.push({ ...common, choices: [{ index, ...this.#noContent, logprobs: null, finish_reason: 'length' }], ...noUsageYet });
		}
		if (this.#hasUsage) chunks.push({ ...common, choices: [], usage: writeUsage(usage) });
		return EventBatch.ofTexts([...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n']);
	}
}
