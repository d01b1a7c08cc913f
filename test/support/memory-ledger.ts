/** Ledger that lives as long as the process, for tests and trials: entries are deleted only on request. */
import { noUsage, type Usage } from '../../src/core/usage.ts';
import {
	type ClosedEntry,
	type CostQuery,
	type CostScope,
	defaultSummaryNames,
	type EntryQuery,
	type Ledger,
	type LedgerEntry,
	type LedgerHealth,
	maxEntriesScanned,
	otherAttributes,
	type SummaryKey,
	type SummaryQuery,
	summaryNames,
	type UsageSummary,
} from '../../src/stores/contracts/ledger.ts';
import { createMemoryAssessments } from './memory-assessments.ts';

const msPerHour = 3_600_000;

type Sums = Pick<UsageSummary, 'requests' | 'usage' | 'costNanoUsd' | 'estimatedCostNanoUsd'>;
interface HourlySum extends Sums {
	readonly hour: number;
	readonly row: LedgerEntry;
}

export function createMemoryLedger(): Ledger {
	const { prune: pruneAssessments, ...assessments } = createMemoryAssessments();
	const rows = new Map<string, { sequence: number; row: LedgerEntry }>();
	const hours = new Map<string, HourlySum>();
	const counts = { unknownCloses: 0, repeatedCloses: 0 };
	let lastSequence = 0;
	const count = (row: LedgerEntry, added: Sums): void => {
		const hour = Math.floor(row.startedMs / msPerHour);
		const key = JSON.stringify([hour, ...summaryNames.map((name) => row[name])]);
		const sum = hours.get(key) ?? { hour, row, ...nothing };
		const total = sumOf(sum, added);
		if (total.requests === 0) hours.delete(key);
		else hours.set(key, { ...sum, ...total });
	};
	const costsOf = ({ of, ...span }: CostQuery): bigint[] =>
		of.map((scope) =>
			summarize(hours.values(), { ...span, period: 'all', team: scope.team, by: summaryNames })
				.filter((row) => isInScope(row, scope))
				.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n),
		);
	return {
		...assessments,
		open(row) {
			const found = rows.get(row.id);
			if (found === undefined) {
				const opened: LedgerEntry = { ...row, budgets: [...row.budgets], closed: undefined };
				rows.set(row.id, { sequence: ++lastSequence, row: opened });
				count(opened, { ...nothing, requests: 1 });
			} else if (found.row.closed === undefined) {
				const { provider, model, priceVersion, reservedNanoUsd, budgets } = row;
				count(found.row, { ...nothing, requests: -1 });
				found.row = { ...found.row, provider, model, priceVersion, reservedNanoUsd, budgets: [...budgets] };
				count(found.row, { ...nothing, requests: 1 });
			}
			return { failure: undefined };
		},
		close({ id, ...closed }, onClosed) {
			const found = rows.get(id);
			if (found === undefined) {
				counts.unknownCloses += 1;
				onClosed('unknown');
			} else if (found.row.closed !== undefined) {
				counts.repeatedCloses += 1;
				onClosed('closed_before');
			} else {
				found.row = { ...found.row, closed: copyOf(closed) };
				const { usage, costNanoUsd, isEstimated } = closed;
				count(found.row, { requests: 0, usage, costNanoUsd, estimatedCostNanoUsd: isEstimated ? costNanoUsd : 0n });
				onClosed('closed');
			}
		},
		// No interrupted entries: they disappear with the process.
		closeInterrupted: async () => [],
		async prune(beforeMs) {
			const wholeHourMs = Math.floor(beforeMs / msPerHour) * msPerHour;
			pruneAssessments(wholeHourMs);
			const old = [...rows.values()].filter(({ row }) => row.closed !== undefined && row.startedMs < wholeHourMs);
			for (const { row } of old) rows.delete(row.id);
			return old.length;
		},
		summarize: async (query) => summarize(hours.values(), query),
		sumCosts: async (query) => costsOf(query),
		async list(query) {
			return pageOf(
				[...rows.values()].toSorted((left, right) => right.sequence - left.sequence),
				query,
			);
		},
		async readTeam({ team, spans, costs: costQueries = [], requests }) {
			const sums = spans.map((span) => summarize(hours.values(), { ...span, team }));
			const costs = costQueries.map(costsOf);
			if (requests === undefined) return { sums, costs, openRequests: [], endedIds: [] };
			const ofTeam = [...rows.values()].map(({ row }) => row).filter((row) => row.team === team);
			const ended = ofTeam.filter(
				({ startedMs, closed }) => (closed?.endedMs ?? 0) >= requests.endedSinceMs && startedMs >= requests.startedSinceMs,
			);
			const openRequests = ofTeam
				.filter(({ closed }) => closed === undefined)
				.map(({ id, startedMs, isStreaming, budgets, reservedNanoUsd }) => ({ id, startedMs, isStreaming, budgets, reservedNanoUsd }));
			return { sums, costs, openRequests, endedIds: ended.map(({ id }) => id) };
		},
		check: async () => [],
		health: (): LedgerHealth => ({
			isWritable: true,
			queuedEntries: 0,
			rejectedEntries: 0,
			lostCloses: 0,
			droppedAssessments: 0,
			...counts,
		}),
		end: async () => undefined,
	};
}

const nothing: Sums = { requests: 0, usage: noUsage, costNanoUsd: 0n, estimatedCostNanoUsd: 0n };

function copyOf(closed: Omit<ClosedEntry, 'id'>): Omit<ClosedEntry, 'id'> {
	return { ...closed, usage: { ...closed.usage } };
}

function sumOf(left: Sums, right: Sums): Sums {
	const usage = Object.fromEntries(
		(Object.keys(noUsage) as Exclude<keyof Usage, 'toolCalls'>[]).map((name) => [name, left.usage[name] + right.usage[name]]),
	) as unknown as Usage;
	return {
		requests: left.requests + right.requests,
		usage,
		costNanoUsd: left.costNanoUsd + right.costNanoUsd,
		estimatedCostNanoUsd: left.estimatedCostNanoUsd + right.estimatedCostNanoUsd,
	};
}

function summarize(hours: Iterable<HourlySum>, query: SummaryQuery): UsageSummary[] {
	const { fromMs, toMs, period, team, by = defaultSummaryNames, attributeNames, after, limit } = query;
	const fromHour = Math.floor(fromMs / msPerHour);
	const toHour = Math.ceil(toMs / msPerHour);
	const sums = new Map<string, UsageSummary>();
	for (const { hour, row, ...sum } of hours) {
		if (hour < fromHour || hour >= toHour || (team !== undefined && row.team !== team)) continue;
		const name = new Date(hour * msPerHour).toISOString().slice(0, periodLengths[period]);
		const reduced = { ...row, attributes: reducedAttributes(row.attributes, attributeNames) };
		const retained = Object.fromEntries(by.map((one) => [one, reduced[one]]));
		const of: SummaryKey = { period: name, team: '', clientId: '', provider: '', model: '', endpoint: '', attributes: '', ...retained };
		const key = JSON.stringify(of);
		sums.set(key, { ...of, ...sumOf(sums.get(key) ?? nothing, sum) });
	}
	const ordered = [...sums.values()].toSorted(byKey);
	return (after === undefined ? ordered : ordered.filter((row) => byKey(row, after) > 0)).slice(0, limit);
}

const periodLengths = { hour: 13, day: 10, month: 7, all: 0 } as const;

function reducedAttributes(text: string, names: readonly string[] | undefined): string {
	if (text === '' || text === otherAttributes || names === undefined) return text;
	const members = Object.entries(JSON.parse(text) as Record<string, string>).filter(([name]) => names.includes(name));
	return members.length === 0 ? '' : JSON.stringify(Object.fromEntries(members));
}

function isInScope(row: SummaryKey, { model, clientId = null, provider = null, attribute = null }: CostScope): boolean {
	if (attribute !== null) {
		const attributes = row.attributes === '' ? {} : (JSON.parse(row.attributes) as Record<string, string>);
		if (attributes[attribute.name] !== attribute.value) return false;
	}
	return [
		[model, row.model],
		[clientId, row.clientId],
		[provider, row.provider],
	].every(([wanted, found]) => wanted === null || wanted === found);
}

function byKey(left: SummaryKey, right: SummaryKey): number {
	for (const name of ['period', ...summaryNames] as const) {
		if (left[name] !== right[name]) return left[name] < right[name] ? -1 : 1;
	}
	return 0;
}

function pageOf(
	newestFirst: readonly { sequence: number; row: LedgerEntry }[],
	{ team, limit, cursor, ...filters }: EntryQuery,
): Awaited<ReturnType<Ledger['list']>> {
	if (cursor !== undefined && !/^[1-9]\d*$/.test(cursor)) throw new RangeError(`${JSON.stringify(cursor)} is not a valid cursor`);
	const before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
	const ofTeam = newestFirst.filter(({ sequence, row }) => sequence < before && (team === undefined || row.team === team));
	const hasFilters = Object.values(filters).some((filter) => filter !== undefined);
	const looked = hasFilters ? ofTeam.slice(0, maxEntriesScanned) : ofTeam;
	const wanted = looked.filter(({ row }) => isWanted(row, filters));
	const page = wanted.slice(0, Math.max(1, Math.min(limit, 1000)));
	const last = wanted.length > page.length ? page.at(-1) : hasFilters && looked.length === maxEntriesScanned ? looked.at(-1) : undefined;
	return { rows: page.map(({ row }) => structuredClone(row)), nextCursor: last === undefined ? null : String(last.sequence) };
}

function isWanted(row: LedgerEntry, { clientId, provider, model, outcome }: Omit<EntryQuery, 'team' | 'limit' | 'cursor'>): boolean {
	const pairs = [
		[clientId, row.clientId],
		[provider, row.provider],
		[model, row.model],
		[outcome, row.closed?.outcome],
	];
	return pairs.every(([wanted, found]) => wanted === undefined || wanted === found);
}
