import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { Rejection } from '../../../core/rejection.ts';
import type { Author, Budget, Stored } from '../../../stores/contracts/records.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { fieldInvalid, isFieldTaken } from '../fields-rejection.ts';
import { type CsvResponse, defineOperation, type Operation } from '../operation.ts';
import { pageOf, pageQuery, sortUsageRows, takePage, whileSame } from '../page.ts';
import { budget, budgetChange, budgetInput, budgetRecordBody } from '../schemas/budget.ts';
import { named, nanoUsdOf } from '../schemas/values.ts';
import {
	deleteStored,
	entityTag,
	findStored,
	idParams,
	type RequestedChange,
	requireMatch,
	requireSameId,
	respondCreated,
} from '../stored-records.ts';

const tag = 'budgets';
const one = { schema: budget, hasEntityTag: true } as const;

const missing = (id: string): string => `Budget \`${id}\` does not exist`;

const budgetList = named('BudgetList', pageOf(budget));

export function budgetOperations(deps: AdminDeps): Operation[] {
	const { records, runExclusive } = deps;
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
				return { body: { ...page, data: await withUsage(deps, page.data) } };
			},
		}),
		defineOperation({
			method: 'POST',
			path: '/budgets',
			tag,
			summary: 'Create a budget',
			description: 'Limits the spend of a team in a UTC month, for all models or one. Earlier spend in the month counts.',
			body: budgetInput,
			success: { status: 201, ...one },
			rejections: ['record_conflict'],
			run: ({ body, author }) => runExclusive(() => createBudget(deps, body, author)),
		}),
		defineOperation({
			method: 'GET',
			path: '/budgets/{id}',
			tag,
			summary: 'Get a budget and its current usage',
			params: idParams,
			success: { status: 200, ...one },
			rejections: ['record_unknown'],
			run: async ({ params: { id } }) => budgetResult(deps, await storedBudget(deps, id)),
		}),
		defineOperation({
			method: 'PUT',
			path: '/budgets/{id}',
			tag,
			summary: 'Update a budget',
			description: 'Omitted fields stay unchanged.',
			params: idParams,
			body: budgetChange,
			success: { status: 200, ...one },
			rejections: ['record_unknown', 'record_conflict', 'record_stale'],
			run: ({ params: { id }, body, ifMatch, author }) => runExclusive(() => changeBudget(deps, id, body, { ifMatch, author })),
		}),
		defineOperation({
			method: 'DELETE',
			path: '/budgets/{id}',
			tag,
			summary: 'Delete a budget',
			params: idParams,
			success: { status: 204 },
			rejections: ['record_unknown', 'record_stale'],
			run: ({ params: { id }, ifMatch, author }) => runExclusive(() => deleteStored(records.budgets, id, missing(id), { ifMatch, author })),
		}),
	];
}

async function createBudget(deps: AdminDeps, input: z.output<typeof budgetInput>, author: Author): Promise<CsvResponse> {
	const { warningThresholdPercent, hardLimitPercent } = deps.configured().budgetDefaults;
	const hardLimit = input.hard_limit_percent ?? hardLimitPercent;
	const record: Budget = {
		id: input.id ?? `budget-${randomBytes(6).toString('hex')}`,
		team: input.team,
		model: input.model ?? null,
		period: 'monthly',
		limitNanoUsd: nanoUsdOf(input.limit_usd),
		warningThresholdPercent: input.warning_threshold_percent ?? Math.min(warningThresholdPercent, hardLimit),
		hardLimitPercent: hardLimit,
		createdAtMs: author.atMs,
		updatedAtMs: author.atMs,
	};
	checkShares(record);
	await checkTeam(deps, record.team);
	const outcome = await deps.records.budgets.create(record, { author });
	if (outcome === 'id_taken') throw isFieldTaken('id', `must be unique: there is a budget \`${record.id}\``);
	if (outcome === 'scope_taken') throw scopeTaken(record);
	return respondCreated(await budgetResult(deps, await storedBudget(deps, record.id)), '/budgets', record.id);
}

async function changeBudget(
	deps: AdminDeps,
	id: string,
	change: z.output<typeof budgetChange>,
	{ ifMatch, author }: RequestedChange,
): Promise<CsvResponse> {
	requireSameId(change, id);
	const { version, ...before } = await storedBudget(deps, id);
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
	if (record.team !== before.team) await checkTeam(deps, record.team);
	const outcome = await deps.records.budgets.replace(record, { author, ifVersion: version });
	if (outcome === 'scope_taken') throw scopeTaken(record);
	if (outcome !== 'replaced') throw new Rejection('record_stale');
	return budgetResult(deps, await storedBudget(deps, id));
}

function storedBudget({ records }: AdminDeps, id: string): Promise<Stored<Budget>> {
	return findStored(records.budgets, id, missing(id));
}

async function budgetResult(deps: AdminDeps, record: Stored<Budget>): Promise<CsvResponse> {
	const [body] = await withUsage(deps, [record]);
	return { body, headers: { etag: entityTag(record.version) } };
}

async function withUsage({ budgetMeter }: AdminDeps, records: readonly Budget[]): Promise<z.output<typeof budget>[]> {
	return (await budgetMeter.read(records)).map(({ budget: record, usage }) => ({ ...budgetRecordBody(record), usage }));
}

function checkShares({ warningThresholdPercent, hardLimitPercent }: Budget): void {
	if (warningThresholdPercent > hardLimitPercent) throw fieldInvalid('warning_threshold_percent', 'must not be above hard_limit_percent');
}

async function checkTeam({ teamLookup }: AdminDeps, team: string): Promise<void> {
	if (await teamLookup.isKnown(team)) return;
	const message = `Team \`${team}\` does not exist. Create it with \`tollgate team create --id ${team}\`.`;
	throw fieldInvalid('team', message, message);
}

function scopeTaken({ team, model }: Budget) {
	const what = model === null ? 'all models' : 'this model';
	return isFieldTaken('model', `must be unique for the team: \`${team}\` has a budget for ${what}`);
}
