/** Feeds the store of request records. */
import { plainRouting } from '../core/request-record.ts';
import { noUsage } from '../core/usage.ts';
import type { RequestLogEntry, RequestObserver } from '../io/request-log.ts';
import type { InterruptedEntry } from '../stores/contracts/ledger.ts';
import { noAttributes, type RecordedRequest, type RequestRecords, startedMsOf } from '../stores/contracts/request-records.ts';
import { inferenceEndpoints } from '../wire/endpoints/endpoints.ts';

const none: readonly never[] = [];

export interface RequestRecording {
	readonly observe: RequestObserver;
	/** Resolves when no record waits for an evaluation. */
	settled(): Promise<void>;
}

/** Records inference requests of known clients; all others are only counted. A record waits for evaluations that outlive its request. */
export function recordRequests(records: Pick<RequestRecords, 'add'>): RequestRecording {
	let waiting = 0;
	let onSettled: (() => void) | undefined;
	return {
		observe(entry) {
			const { endpoint, clientId, evaluations } = entry.record;
			if (endpoint === undefined || clientId === undefined) return;
			if (evaluations === undefined) {
				records.add(recordedRequest(entry, endpoint, clientId));
				return;
			}
			waiting++;
			void evaluations.then(() => {
				records.add(recordedRequest(entry, endpoint, clientId));
				if (--waiting === 0) onSettled?.();
			});
		},
		settled: () => (waiting === 0 ? Promise.resolve() : new Promise((resolve) => (onSettled = resolve))),
	};
}

function recordedRequest(entry: RequestLogEntry, endpoint: string, clientId: string): RecordedRequest {
	const { record, outcome } = entry;
	const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, cacheWriteHourTokens = 0, outputTokens = 0, costNanoUsd } = record;
	return {
		id: entry.requestId,
		endpoint,
		team: record.team ?? null,
		isTeamByRule: record.isTeamByRule === true,
		clientId,
		modelRequested: record.modelRequested ?? null,
		model: record.model ?? null,
		provider: record.provider ?? null,
		status: entry.status,
		outcome,
		code: entry.code ?? (outcome === 'client_closed' ? outcome : null),
		limit: record.limit ?? null,
		allowList: record.allowList ?? null,
		monitored: record.monitored ?? none,
		monitoredRoute: record.monitoredRoute ?? null,
		targets: record.targets ?? none,
		usage:
			inputTokens === undefined
				? null
				: {
						inputTokens: inputTokens - cacheReadTokens - cacheWriteTokens,
						cacheReadTokens,
						cacheWriteTokens,
						cacheWriteHourTokens,
						outputTokens,
						reasoningTokens: record.reasoningTokens ?? 0,
						...(record.toolCalls !== undefined && { toolCalls: record.toolCalls }),
					},
		costNanoUsd: costNanoUsd ?? null,
		isEstimated: record.isEstimated === true,
		isPriced: record.isUnpriced !== true,
		isStreaming: record.isStreaming === true,
		attributes: record.attributes ?? noAttributes,
		durationMs: entry.durationMs,
		firstByteMs: record.firstByteMs ?? null,
		requestBytes: record.requestBytes ?? entry.requestBytes,
		responseBytes: entry.responseBytes,
		size: record.size ?? null,
		routing: record.routing ?? plainRouting,
		isOutputCapped: record.isOutputCapped === true,
	};
}

/** Records requests that a dead process left open, once for each request: each of its failed targets has an entry too. */
export function recordInterrupted(records: Pick<RequestRecords, 'add'>, entries: readonly InterruptedEntry[], nowMs: number): void {
	for (const { id, team, clientId, provider, model, dialect, startedMs, costNanoUsd } of entries) {
		if (startedMsOf(id) === undefined || id.includes('.')) continue;
		records.add({
			id,
			endpoint: inferenceEndpoints.find((endpoint) => endpoint.dialect.name === dialect)?.path ?? '',
			team,
			isTeamByRule: false,
			clientId,
			modelRequested: null,
			model,
			provider,
			status: 0,
			outcome: 'interrupted',
			code: 'interrupted',
			limit: null,
			allowList: null,
			monitored: none,
			monitoredRoute: null,
			targets: none,
			usage: noUsage,
			costNanoUsd,
			isEstimated: true,
			isPriced: true,
			isStreaming: false,
			attributes: noAttributes,
			durationMs: Math.max(0, nowMs - startedMs),
			firstByteMs: null,
			requestBytes: 0,
			responseBytes: 0,
			size: null,
			routing: plainRouting,
			isOutputCapped: false,
		});
	}
}
