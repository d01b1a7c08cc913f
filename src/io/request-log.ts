import type { Log } from '../core/log.ts';
import { formatUsd } from '../core/money.ts';
import { rejections } from '../core/rejection.ts';
import type { RequestRecord } from '../core/request-record.ts';
import { upstreamErrors } from '../core/upstream-error.ts';

/**
 * `complete`, `rejected` and `failed`: the response was sent completely, without an error, with a rejection, or with an upstream or internal
 * error. `client_closed`: the client disconnected before its end. `broken`: the gateway cut the response.
 */
export type Outcome = 'complete' | 'rejected' | 'failed' | 'client_closed' | 'broken';

export interface RequestLogEntry {
	readonly requestId: string;
	readonly method: string;
	/** Request target as received. The query is not logged, because it may contain secrets. */
	readonly target: string;
	readonly status: number;
	readonly outcome: Outcome;
	readonly durationMs: number;
	readonly requestBytes: number;
	readonly responseBytes: number;
	readonly peer: string;
	readonly code: string | undefined;
	readonly record: RequestRecord;
}

/** @returns the outcome of a response that was sent completely. @param code of the error that it reports. */
export function sentOutcome(code: string | undefined): Outcome {
	if (code === undefined) return 'complete';
	if (Object.hasOwn(rejections, code)) return 'rejected';
	return code === 'internal_error' || Object.hasOwn(upstreamErrors, code) ? 'failed' : 'complete';
}

const maxPathCharacters = 256;

/** Called once for each request, when its line is written. */
export type RequestObserver = (record: RequestLogEntry) => void;

/** Load balancers request these every few seconds; successful requests are logged at level debug only. */
const healthPaths: ReadonlySet<string> = new Set(['/', '/healthz', '/readyz', '/metrics']);

/** Writes the one line of a request, when its response is over. */
export function logRequest(log: Log, record: RequestLogEntry): void {
	const { record: requestRecord } = record;
	const mark = record.target.indexOf('?');
	const path = (mark === -1 ? record.target : record.target.slice(0, mark)).slice(0, maxPathCharacters);
	const fields = {
		requestId: requestRecord.relayedRequestId ?? record.requestId,
		method: record.method,
		path,
		status: record.status,
		outcome: record.outcome,
		code: record.code,
		clientId: requestRecord.clientId,
		team: requestRecord.team,
		provider: requestRecord.provider,
		model: requestRecord.model,
		allowList: requestRecord.allowList,
		upstreamStatus: requestRecord.upstreamStatus,
		isStreaming: requestRecord.isStreaming,
		inputTokens: requestRecord.inputTokens,
		outputTokens: requestRecord.outputTokens,
		costUsd: requestRecord.costNanoUsd === undefined ? undefined : formatUsd(requestRecord.costNanoUsd),
		isEstimated: requestRecord.isEstimated,
		isUncounted: requestRecord.isUncounted,
		monitored: requestRecord.monitored,
		monitoredRoute: requestRecord.monitoredRoute,
		durationMs: inTenths(record.durationMs),
		firstByteMs: requestRecord.firstByteMs === undefined ? undefined : inTenths(requestRecord.firstByteMs),
		requestBytes: requestRecord.requestBytes ?? record.requestBytes,
		responseBytes: record.responseBytes,
		peer: record.peer,
	};
	if (record.status < 400 && healthPaths.has(path)) log.debug('request', fields);
	else log.info('request', fields);
}

function inTenths(ms: number): number {
	return Math.round(ms * 10) / 10;
}
