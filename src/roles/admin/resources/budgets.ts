import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Rejection } from '../../../core/rejection.ts';
import type { Author, Budget, Stored } from '../../../stores/contracts/records.ts';
import type { AdminParts } from '../admin-deps.ts';
import { fieldInvalid, fieldTaken } from '../fields-rejection.ts';
import { type CsvResponse, defineOperation, type Operation } from '../operation.ts';
import { pageOf, pageQuery, sortUsageRows, takePage, whileSame } from '../page.ts';
import { budget, budgetChange, budgetRecordBody, budgetWish } from '../schemas/budget.ts';
import { named, nanoUsdOf } from '../schemas/values.ts';
import {
	answerCreated,
	deleteStored,
	entityTag,
	findStored,
	type RequestedChange,
	requireMatch,
	requireSameId,
} from '../stored-records.ts';

const tag = 'budgets';
const params = z.strictObject({ id: z.string() });
const one = { schema: budget, hasEntityTag: true } as const;

const missing = (id: string): string => `Budget \`${id}\` does not exist`;

const budgetList = named('BudgetList', pageOf(budget));

export function budgetOperations(parts: AdminParts): Operation[] {
	const { records, takeTurn } = parts;
	const inOrder = whileSame((all: readonly Budget[]) => sortUsageRows(all, ({ id }) => id));
	return [
		defineOperation({
			method: 'GET',
			path: '/budgets',
			tag,
			summary: 'List budgets',
			query: z.strictObject({ ...pageQuery, team: z.string().optional().describe('Only budgets of this team.') }),
			success: { status: 200, schema: budgetList },
			run: async ({ query }) => {
				const all = inOrder(await records.budgets.list());
				const wanted = query.team === undefined ? all : all.filter(({ row }) => row.team === query.team);
				const page = takePage(wanted, query, (record) => record);
				return { body: { ...page, data: await withUsage(parts, page.data) } };
			},
		}),
		defineOperation({
			method: 'POST',
			path: '/budgets',
			tag,
			summary: 'Create a budget',
			description: 'Limits the spend of a team in a UTC month, for all models or one. Earlier spend in the month counts.',
			body: budgetWish,
			success: { status: 201, ...one },
			rejections: ['record_conflict'],
			run: ({ body, author }) => takeTurn(() => createBudget(parts, body, author)),
		}),
		defineOperation({
			method: 'GET',
			path: '/budgets/{id}',
			tag,
			summary: 'Get a budget and its current usage',
			params,
			success: { status: 200, ...one },
			rejections: ['record_unknown'],
			run: async ({ params: { id } }) => budgetResult(parts, await storedBudget(parts, id)),
		}),
		defineOperation({
			method: 'PUT',
			path: '/budgets/{id}',
			tag,
			summary: 'Update a budget',
			description: 'Omitted fields stay unchanged.',
			params,
			body: budgetChange,
			success: { status: 200, ...one },
			rejections: ['record_unknown', 'record_conflict', 'record_stale'],
			run: ({ params: { id }, body, ifMatch, author }) => takeTurn(() => changeBudget(parts, id, body, { ifMatch, author })),
		}),
		defineOperation({
			method: 'DELETE',
			path: '/budgets/{id}',
			tag,
			summary: 'Delete a budget',
			params,
			success: { status: 204 },
			rejections: ['record_unknown', 'record_stale'],
			run: ({ params: { id }, ifMatch, author }) => takeTurn(() => deleteStored(records.budgets, id, missing(id), { ifMatch, author })),
		}),
	];
}

async function createBudget(parts: AdminParts, wish: z.output<typeof budgetWish>, author: Author): Promise<CsvResponse> {
	const { warningThresholdPercent, hardLimitPercent } = parts.configured().budgetDefaults;
	const hardLimit = wish.hard_limit_percent ?? hardLimitPercent;
	const record: Budget = {
		id: wish.id ?? `budget-${randomBytes(6).toString('hex')}`,
		team: wish.team,
		model: wish.model ?? null,
		period: 'monthly',
		limitNanoUsd: nanoUsdOf(wish.limit_usd),
		warningThresholdPercent: wish.warning_threshold_percent ?? Math.min(warningThresholdPercent, hardLimit),
		hardLimitPercent: hardLimit,
		createdAtMs: author.atMs,
		updatedAtMs: author.atMs,
	};
	checkShares(record);
	await checkTeam(parts, record.team);
	const outcome = await parts.records.budgets.create(record, { author });
	if (outcome === 'id_taken') throw fieldTaken('id', `must be unique: there is a budget \`${record.id}\``);
	if (outcome === 'scope_taken') throw scopeTaken(record);
	return answerCreated(await budgetResult(parts, await storedBudget(parts, record.id)), '/budgets', record.id);
}

async function changeBudget(
	parts: AdminParts,
	id: string,
	change: z.output<typeof budgetChange>,
	{ ifMatch, author }: RequestedChange,
): Promise<CsvResponse> {
	requireSameId(change, id);
	const { version, ...before } = await storedBudget(parts, id);
	requireMatch(ifMatch, entityTag(version));
	const record: Budget = {
		...before,
		team: change.team ?? before.team,
		model: change.model === undefined ? before.model : change.model,
		limitNanoUsd: change.limit_usd === undefined ? before.limitNanoUsd : nanoUsdOf(change.limit_usd),
		warningThresholdPercent: change.warning_threshold_percent ?? before.warningThresholdPercent,
		hardLimitPercent: change.hard_limit_percent ?? before.hardLimitPercent,
		updatedAtMs: author.atMs,
	};
	checkShares(record);
	if (record.team !== before.team) await checkTeam(parts, record.team);
	const outcome = await parts.records.budgets.replace(record, { author, ifVersion: version });
	if (outcome === 'scope_taken') throw scopeTaken(record);
	if (outcome !== 'replaced') throw new Rejection('record_stale');
	return budgetResult(parts, await storedBudget(parts, id));
}

function storedBudget({ records }: AdminParts, id: string): Promise<Stored<Budget>> {
	return findStored(records.budgets, id, missing(id));
}

async function budgetResult(parts: AdminParts, record: Stored<Budget>): Promise<CsvResponse> {
	const [body] = await withUsage(parts, [record]);
	return { body, headers: { etag: entityTag(record.version) } };
}

async function withUsage({ budgetMeter }: AdminParts, records: readonly Budget[]): Promise<z.output<typeof budget>[]> {
	return (await budgetMeter.read(records)).map(({ budget: record, usage }) => ({ ...budgetRecordBody(record), usage }));
}

function checkShares({ warningThresholdPercent, hardLimitPercent }: Budget): void {
	if (warningThresholdPercent > hardLimitPercent) throw fieldInvalid('warning_threshold_percent', 'must not be above hard_limit_percent');
}

async function checkTeam({ teamLookup }: AdminParts, team: string): Promise<void> {
	if (await teamLookup.isKnown(team)) return;
	const message = `Team \`${team}\` does not exist. Create it with \`tollgate team create --id ${team}\`.`;
	throw fieldInvalid('team', message, message);
}

function scopeTaken({ team, model }: Budget) {
	const what = model === null ? 'all models' : 'this model';
	return fieldTaken('model', `must be unique for the team: \`${team}\` has a budget for ${what}`);
}
