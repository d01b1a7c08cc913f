/** Control API of a simulator that runs elsewhere, such as in a started product. */
import type { BillTotal, ObservedRequest } from './start-simulator.ts';

export interface ObservedUpstream extends ObservedRequest {
	readonly path: string;
	readonly query: string;
	readonly dialect: string;
	readonly duration_ms: number | null;
}

export interface Replay {
	readonly dialect?: string;
	readonly key?: string;
	readonly model?: string;
	readonly count?: number;
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: string;
	readonly body_base64?: string;
	readonly sse?: string;
	readonly json?: unknown;
	readonly split?: 'none' | 'events' | { readonly bytes: readonly [number, number]; readonly seed: number };
	readonly interval_ms?: number;
}

export class SimulatorControl {
	readonly #origin: string;

	constructor(origin: string) {
		this.#origin = origin;
	}

	/** Number of requests that completed, broke off or were aborted so far. */
	async requestsServed(): Promise<number> {
		const { total } = (await this.#call('GET', '/bill')) as { total?: BillTotal };
		if (total === undefined) throw new Error('the bill has no total');
		return total.requests;
	}

	/** Returns the requests, newest first. @param query such as `?model=gpt-4o`. */
	async requests(query = ''): Promise<ObservedUpstream[]> {
		return ((await this.#call('GET', `/requests${query}`)) as { data: ObservedUpstream[] }).data;
	}

	async newestRequest(): Promise<ObservedUpstream> {
		const [row] = await this.requests('?limit=1');
		if (row === undefined) throw new Error('the simulator has not been asked anything');
		return row;
	}

	/** Sets the response to the next matching request, byte for byte. */
	async replay(response: Replay): Promise<void> {
		await this.#call('POST', '/replay', response);
	}

	/** Breaks all matching requests until `clearFaults`. @param fault such as `503`. */
	async addFault(fault: { fault: string; dialect?: string; model?: string }): Promise<void> {
		await this.#call('POST', '/faults', fault);
	}

	async clearFaults(): Promise<void> {
		await this.#call('DELETE', '/faults');
	}

	/** Limits the matching requests as a vendor does, until `clearRateLimits`. */
	async limitRate(limit: { requests?: number; tokens?: number; window_seconds?: number; dialect?: string; key?: string }): Promise<void> {
		await this.#call('POST', '/rate_limits', limit);
	}

	async clearRateLimits(): Promise<void> {
		await this.#call('DELETE', '/rate_limits');
	}

	async change(settings: { interval_ms?: number; first_byte_ms?: number; record_bodies?: boolean }): Promise<void> {
		await this.#call('POST', '/settings', settings);
	}

	async #call(method: string, path: string, body?: unknown): Promise<unknown> {
		const response = await fetch(`${this.#origin}/_simulator${path}`, {
			method,
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
		return text === '' ? undefined : JSON.parse(text);
	}
}
