/** Requests and bill of a simulator in another process. */
import type { TokenCounts } from './accounting-prices.ts';

export interface BilledRequest {
	/** Vendor request id of the response. */
	readonly id: string;
	/** Start of the request, ISO 8601. */
	readonly time: string;
	readonly model: string;
	readonly status: number | null;
	readonly outcome: 'complete' | 'aborted' | 'broken' | 'rejected' | 'replayed' | 'pending';
	readonly tokens: {
		readonly input: number;
		readonly cache_write: number;
		readonly cache_read: number;
		readonly output: number;
		readonly reasoning: number;
	};
	readonly events: number;
	readonly duration_ms: number | null;
}

export interface FaultRule {
	readonly fault: string;
	readonly model?: string;
	readonly rate?: number;
	readonly count?: number;
	readonly seed?: number;
}

export class SimulatorBill {
	readonly origin: string;

	constructor(origin: string) {
		this.origin = origin;
	}

	/** Returns the requests, newest first. @param query such as `?model=gpt-4o`. */
	async requests(query = '?limit=100000'): Promise<BilledRequest[]> {
		return ((await this.#call('GET', `/requests${query}`)) as { data: BilledRequest[] }).data;
	}

	async addFaults(...rules: readonly FaultRule[]): Promise<void> {
		for (const rule of rules) await this.#call('POST', '/faults', rule);
	}

	async clearFaults(): Promise<void> {
		await this.#call('DELETE', '/faults');
	}

	/** Sets the model's output for the next requests; each piece is an event. */
	async script(words: { readonly pieces: readonly string[]; readonly count: number }): Promise<void> {
		await this.#call('POST', '/script', words);
	}

	/** Deletes the bill and all requests. */
	async startNewBill(): Promise<void> {
		await this.#call('DELETE', '/bill');
	}

	/** @param eventMs between two events of a stream. */
	async pace(eventMs: number): Promise<void> {
		await this.#call('POST', '/settings', { interval_ms: eventMs });
	}

	async #call(method: string, path: string, body?: unknown): Promise<unknown> {
		const response = await fetch(`${this.origin}/_simulator${path}`, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
		const text = await response.text();
		if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
		return text === '' ? undefined : JSON.parse(text);
	}
}

/** @param writesForAnHour the cache duration that the request asked for, which the bill does not contain. */
export function billedCounts({ tokens }: BilledRequest, writesForAnHour = false): TokenCounts {
	return {
		input: tokens.input,
		cacheRead: tokens.cache_read,
		cacheWrite: writesForAnHour ? 0 : tokens.cache_write,
		cacheWriteHour: writesForAnHour ? tokens.cache_write : 0,
		output: tokens.output - tokens.reasoning,
		reasoning: tokens.reasoning,
	};
}
