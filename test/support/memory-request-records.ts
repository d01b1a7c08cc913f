/** Request records that live as long as the process, for tests and as the model of other stores. */
import {
	type RecordedRequest,
	type RequestQuery,
	type RequestRecords,
	requireRequestCursor,
	startedMsOf,
} from '../../src/stores/contracts/request-records.ts';

export function createMemoryRequestRecords(): RequestRecords {
	const retained = new Map<string, RecordedRequest>();
	return {
		add(request) {
			retained.set(request.id, { ...request, modelRequested: request.modelRequested?.slice(0, 256) ?? null });
		},
		health: () => ({ isWritable: true, queuedRecords: 0, droppedRecords: 0 }),
		async list(query) {
			requireRequestCursor(query);
			const found = [...retained.values()]
				.filter((request) => isWanted(request, query))
				.toSorted((one, other) => (one.id < other.id ? 1 : -1));
			const requests = found.slice(0, query.limit);
			return { requests, nextCursor: found.length > query.limit ? (requests.at(-1)?.id ?? null) : null };
		},
		async scan({ fromMs, toMs }) {
			const requests = [...retained.values()].filter((request) => isWanted(request, { fromMs, toMs, limit: 1 }));
			return { requests: requests.toSorted((one, other) => (one.id < other.id ? -1 : 1)), nextMs: null };
		},
		find: async (id) => retained.get(id),
		end: async () => undefined,
	};
}

function isWanted(request: RecordedRequest, query: RequestQuery): boolean {
	const { fromMs = 0, toMs = Number.POSITIVE_INFINITY, cursor, model, code, status, attributes = {} } = query;
	const startedMs = startedMsOf(request.id) ?? 0;
	if (startedMs < fromMs || startedMs >= toMs || (cursor !== undefined && request.id >= cursor)) return false;
	if ((['team', 'clientId', 'provider', 'endpoint'] as const).some((name) => query[name] !== undefined && query[name] !== request[name])) {
		return false;
	}
	if (model !== undefined && request.model !== model && request.modelRequested !== model) return false;
	if (code !== undefined && request.code !== code && !request.monitored.includes(code)) return false;
	if (status !== undefined && request.status !== status) return false;
	return Object.entries(attributes).every(([name, value]) => request.attributes[name] === value);
}
