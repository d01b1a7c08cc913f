import type { RequestSize } from '../../src/core/cost-factors.ts';
import { plainRouting } from '../../src/core/request-record.ts';
import { firstIdOf, noAttributes, type RecordedRequest } from '../../src/stores/contracts/request-records.ts';

export const plainSize: RequestSize = {
	writtenTokens: 75,
	boundTokens: 300,
	contextWindows: 0,
	prompts: 1,
	capTokens: null,
	hasOwnCap: false,
	choices: 1,
	defaultTokens: null,
	cacheWrites: 'short',
	hasHostedTools: false,
	maxToolCalls: null,
	surchargedField: null,
	requestsThinking: null,
	isBackground: false,
};

/** @param sequence makes ids of one millisecond differ. */
export function recordedRequest(startedMs: number, sequence: number, changed: Partial<RecordedRequest> = {}): RecordedRequest {
	return {
		id: `${firstIdOf(startedMs)}${sequence.toString(16).padStart(20, '0')}`,
		endpoint: '/v1/chat/completions',
		team: 'red',
		isTeamByRule: false,
		clientId: 'red-bot',
		modelRequested: 'gpt-4o',
		model: 'gpt-4o',
		provider: 'provider_b',
		status: 200,
		outcome: 'complete',
		code: null,
		limit: null,
		allowList: null,
		monitored: [],
		monitoredRoute: null,
		targets: [{ provider: 'provider_b', model: 'gpt-4o', status: 200, code: null, ms: 12.5 }],
		usage: { inputTokens: 10, cacheReadTokens: 3, cacheWriteTokens: 2, cacheWriteHourTokens: 1, outputTokens: 5, reasoningTokens: 2 },
		costNanoUsd: 123_456n,
		isEstimated: false,
		isPriced: true,
		isStreaming: false,
		attributes: noAttributes,
		durationMs: 20.3,
		firstByteMs: 12.4,
		requestBytes: 300,
		responseBytes: 700,
		size: plainSize,
		routing: plainRouting,
		isOutputCapped: false,
		...changed,
	};
}

/** Changes that make a record that of a rejected request. */
export const rejectedRequest: Partial<RecordedRequest> = {
	status: 429,
	outcome: 'rejected',
	targets: [],
	usage: null,
	costNanoUsd: null,
	firstByteMs: null,
};
