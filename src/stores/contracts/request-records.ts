/** Records of requests, rejected ones included. Operators look them up; the ledger remains authoritative for cost. */
import type { RequestSize } from '../../core/cost-factors.ts';
import type { ReachedLimit, RecordedRoute, RecordedRouting, TargetAttempt } from '../../core/request-record.ts';
import type { Usage } from '../../core/usage.ts';

export interface RequestRecords extends RequestRecordReader {
	/** Never waits and never fails: records are dropped and counted when the queue is full. Readable within about half a second. */
	add(request: RecordedRequest): void;
	health(): RequestRecordsHealth;
}

/** The part of the records for processes that serve no requests. */
export interface RequestRecordReader {
	/**
	 * Lists requests, newest first by their start.
	 * @throws RangeError for a cursor that no page returned; `UpstreamError` `records_unavailable`.
	 */
	list(query: RequestQuery): Promise<RequestPage>;
	/**
	 * Reads the first part of a span, oldest first.
	 * @throws UpstreamError `records_unavailable`.
	 */
	scan(span: RequestSpan): Promise<RequestScan>;
	/** @throws UpstreamError `records_unavailable`. */
	find(id: string): Promise<RecordedRequest | undefined>;
	/** Writes what is queued, then frees all resources. */
	end(): Promise<void>;
}

/** Bounds of the requests' start in Unix milliseconds, inclusive and exclusive. */
export interface RequestSpan {
	readonly fromMs: number;
	readonly toMs: number;
}

export interface RequestScan {
	/** In the order of their ids. Decoded one by one; can be read once. */
	readonly requests: Iterable<RecordedRequest>;
	/** Start of the part that was not read; null: the span has no more. */
	readonly nextMs: number | null;
}

/** Texts are stored up to their first 256 characters. */
export interface RecordedRequest {
	/** Begins with the time of the request's start, see `startedMsOf`. */
	readonly id: string;
	/** Path of the inference endpoint. */
	readonly endpoint: string;
	/** Null: the client was in no team, and rejected. */
	readonly team: string | null;
	/** True if `access.rules` gave the client its team. */
	readonly isTeamByRule: boolean;
	readonly clientId: string;
	/** Null: the request was rejected before its body was read. */
	readonly modelRequested: string | null;
	/** Target that served or would have served the request. Null: none was chosen. */
	readonly model: string | null;
	readonly provider: string | null;
	/** Status that the client received; 0: the process ended before the response. */
	readonly status: number;
	/** As in the request's log line. */
	readonly outcome: string;
	readonly code: string | null;
	readonly limit: ReachedLimit | null;
	/** List that allowed none of the targets, such as `teams.search.models.deny`. */
	readonly allowList: string | null;
	/** Effects of monitored policies, which were recorded instead of enforced. */
	readonly monitored: readonly string[];
	/** First target that a monitored routing rule would have chosen. Null: none decided. */
	readonly monitoredRoute: RecordedRoute | null;
	readonly targets: readonly TargetAttempt[];
	/** Null: nothing was charged. */
	readonly usage: Usage | null;
	readonly costNanoUsd: bigint | null;
	readonly isEstimated: boolean;
	readonly isPriced: boolean;
	readonly isStreaming: boolean;
	readonly attributes: Readonly<Record<string, string>>;
	/** Times have a resolution of 0.1 ms. */
	readonly durationMs: number;
	/** Null: the provider sent no byte. */
	readonly firstByteMs: number | null;
	readonly requestBytes: number;
	readonly responseBytes: number;
	/** Null: rejected before its body was read, or recorded by an earlier release. */
	readonly size: RequestSize | null;
	readonly routing: RecordedRouting;
	/** True if the gateway limited the output of a request without a limit. */
	readonly isOutputCapped: boolean;
}

export const noAttributes: Readonly<Record<string, string>> = {};

/** Filters combine with AND. */
export interface RequestQuery {
	/** Bounds of the request's start in Unix milliseconds, inclusive and exclusive. */
	readonly fromMs?: number | undefined;
	readonly toMs?: number | undefined;
	readonly team?: string | undefined;
	readonly clientId?: string | undefined;
	/** Requested or served model. */
	readonly model?: string | undefined;
	readonly provider?: string | undefined;
	readonly status?: number | undefined;
	/** Code of the response, or of monitor mode. */
	readonly code?: string | undefined;
	readonly endpoint?: string | undefined;
	readonly attributes?: Readonly<Record<string, string>> | undefined;
	/** 1 to 1,000. */
	readonly limit: number;
	/** From an earlier page. Requests recorded since then shift nothing. */
	readonly cursor?: string | undefined;
}

export interface RequestPage {
	/** Can be fewer than `limit`, or none, although `nextCursor` is set: a page reads a limited number of records. */
	readonly requests: readonly RecordedRequest[];
	readonly nextCursor: string | null;
}

export interface RequestRecordsHealth {
	/** False from a failed write to the next successful one. */
	readonly isWritable: boolean;
	readonly queuedRecords: number;
	/** Since the start. */
	readonly droppedRecords: number;
}

const idPattern = /^req_[0-9a-f]{12}/;

/** @returns the start of a request in Unix milliseconds, from its id; undefined for another text. */
export function startedMsOf(id: string): number | undefined {
	return idPattern.test(id) ? Number.parseInt(id.slice(4, 16), 16) : undefined;
}

/** @returns a text that sorts before the ids of this millisecond, and after those of earlier ones. */
export function firstIdOf(ms: number): string {
	return `req_${ms.toString(16).padStart(12, '0')}`;
}

const cursorPattern = /^req_[0-9a-f]{12,40}$/;

/** @throws RangeError */
export function requireRequestCursor({ cursor }: Pick<RequestQuery, 'cursor'>): void {
	if (cursor !== undefined && !cursorPattern.test(cursor)) throw new RangeError(`${JSON.stringify(cursor)} is not a valid cursor`);
}
