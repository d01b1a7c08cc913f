/** Tracks one request: its log entry, and its bill entry, which is added exactly once. */

import type { Clock } from '../src/core/clock.ts';
import type { HttpRequest } from '../src/core/handler.ts';
import type { Usage } from './plan/response-plan.ts';
import type { ModerationWireName } from './wires/moderation-wire.ts';
import type { WireName } from './wires/wire.ts';
import { type Bill, noBilledTokens, type RequestOutcome } from './witness/bill.ts';
import { lastFour, type RequestEntry, type RequestLog } from './witness/received-requests.ts';

export interface OpenRequest {
	readonly row: RequestEntry;
	identify(key: string, model: string): void;
	/** Marks the request as accepted: its input is billed from now on, whatever happens. */
	accept(usage: Usage): void;
	generated(outputTokens: number, webSearches?: number): void;
	settle(outcome: RequestOutcome): void;
}

export interface RequestWitness {
	readonly bill: Bill;
	readonly requestLog: RequestLog;
	readonly clock: Clock;
}

export function openRequest(
	request: HttpRequest,
	id: string,
	wire: WireName | ModerationWireName,
	{ bill, requestLog, clock }: RequestWitness,
): OpenRequest {
	const period = bill.period();
	const startedMs = clock.monotonicMs();
	const row = requestLog.open({
		id,
		time: new Date(clock.nowMs()).toISOString(),
		method: request.method,
		path: request.path,
		query: request.query,
		wire,
	});
	let usage: Usage | undefined;
	let output = 0;
	return {
		row,
		identify(key, model) {
			row.key = lastFour(key);
			row.model = model;
		},
		accept(accepted) {
			usage = accepted;
		},
		generated(outputTokens, webSearches = 0) {
			output += outputTokens;
			row.webSearches += webSearches;
			row.events += 1;
		},
		settle(outcome) {
			if (row.outcome !== 'pending') return;
			row.outcome = outcome;
			row.durationMs = Math.round(clock.monotonicMs() - startedMs);
			if (usage !== undefined) {
				const { input, cacheWrite, cacheRead } = usage;
				row.tokens = { input, cacheWrite, cacheRead, output, reasoning: Math.min(output, usage.reasoning) };
			} else {
				row.tokens = noBilledTokens;
			}
			bill.add({ key: row.key, wire: row.wire, model: row.model, outcome, tokens: row.tokens, webSearches: row.webSearches }, period);
		},
	};
}
