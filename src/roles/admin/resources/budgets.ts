import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type BudgetWindow, plainBudget } from '../../../core/budget.ts';
import { isInModels } from '../../../core/model-scope.ts';
import { Rejection } from '../../../core/rejection.ts';
import { isTimeZone } from '../../../policy/limits/budget-windows.ts';
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
import { missingRecord, reaches } from '../team-access.ts';

const tag = 'budgets';
const one = { schema: budget, hasEntityTag: true } as const;

const missing = missingRecord.budget;

const budgetList = named('BudgetList', pageOf(budget));

export function budgetOperations(deps: AdminDeps): Operation[] {
	const { records, runExclusive } = deps;
	const inOrder = whileSame((all: readonly Budget[]) => sortUsageRows(all, ({ id }) => id));
	return [
		defineOperation({
			method: 'GET',
			path: '/budgets',
			access: { needs: 'read', team: 'filtered' },
			tag,
			summary: 'List budgets',
			query: z.strictObject({ ...pageQuery, team: z.string().optional().describe('Only budgets of this team.') }),
			success: { status: 200, schema: budgetList },
			run: async ({ query, authority }) => {
				const all = inOrder(await records.budgets.list());
				const wanted = all.filter(({ row: { team } }) => (query.team === undefined || team === query.team) && reaches(authority, team));
				const page = takePage(wanted, query, (record) => record);
				return { body: { ...page, data: await withUsage(deps, page.data) } };
			},
		}),
		defineOperation({
			method: 'POST',
			path: '/budgets',
			access: { needs: 'write', team: 'denied' },
			tag,
			summary: 'Create a budget',
			description:
				'Limits the spend of a team in an hour, day, week or month, for all of its requests or those of a scope. Earlier spend in the window counts.',
			body: budgetInput,
			success: { status: 201, ...one },
			rejections: ['record_conflict'],
			run: ({ body, author }) => runExclusive(() => createBudget(deps, body, author)),
		}),
		defineOperation({
			method: 'GET',
			path: '/budgets/{id}',
			access: { needs: 'read', team: { record: 'budget', param: 'id' } },
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
			access: { needs: 'write', team: 'denied' },
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
			access: { needs: 'write', team: 'denied' },
			tag,
			summary: 'Delete a budget',
			params: idParams,
			success: { status: 204 },
			rejections: ['record_unknown', 'record_stale'],
			run: ({ params: { id }, ifMatch, author }) => runExclusive(() => deleteStored(records.budgets, id, missing(id), { ifMatch, author })),
		}),
	];
}

type Input = z.output<typeof budgetChange>;

async function createBudget(deps: AdminDeps, input: z.output<typeof budgetInput>, author: Author): Promise<CsvResponse> {
	const { warningThresholdPercent, hardLimitPercent } = deps.configured().budgetDefaults;
	const hardLimit = input.hard_limit_percent ?? hardLimitPercent;
	const team = input.team ?? input.scope?.team;
	if (team === undefined) throw fieldInvalid('team', 'is required');
	const record = changedBudget(
		{
			...plainBudget,
			id: input.id ?? `budget-${randomBytes(6).toString('hex')}`,
			team,
			limitNanoUsd: nanoUsdOf(input.limit_usd),
			warningThresholdPercent: Math.min(warningThresholdPercent, hardLimit),
			hardLimitPercent: hardLimit,
			createdAtMs: author.atMs,
			updatedAtMs: author.atMs,
		},
		input,
	);
	checkBudget(deps, record);
	await checkTeam(deps, record.team);
	const outcome = await deps.records.budgets.create(record, { author });
	if (outcome === 'id_taken') throw isFieldTaken('id', `must be unique: there is a budget \`${record.id}\``);
	if (outcome === 'scope_taken') throw scopeTaken(record);
	return respondCreated(await budgetResult(deps, await storedBudget(deps, record.id)), '/budgets', record.id);
}

async function changeBudget(deps: AdminDeps, id: string, change: Input, { ifMatch, author }: RequestedChange): Promise<CsvResponse> {
	requireSameId(change, id);
	const { version, ...before } = await storedBudget(deps, id);
	requireMatch(ifMatch, entityTag(version));
	const record: Budget = { ...changedBudget(before, change), updatedAtMs: author.atMs };
	checkBudget(deps, record, before);
	if (record.team !== before.team) await checkTeam(deps, record.team);
	const outcome = await deps.records.budgets.replace(record, { author, ifVersion: version });
	if (outcome === 'scope_taken') throw scopeTaken(record);
	if (outcome !== 'replaced') throw new Rejection('record_stale');
	return budgetResult(deps, await storedBudget(deps, id));
}

/** Applies the fields of a body. A scope is replaced whole. */
function changedBudget(before: Budget, change: Input): Budget {
	const { scope, raise, limit_usd: limitUsd, when_exceeded: whenExceeded = before.whenExceeded } = change;
	requireSame('scope.team', scope?.team, 'team', change.team);
	requireSame('scope.model', scope?.model, 'model', change.model);
	const window = windowOf(change) ?? before.window;
	const fallbackModel = change.fallback_model === undefined ? before.fallbackModel : change.fallback_model;
	const model = change.model ?? scope?.model ?? (change.model === undefined && scope === undefined ? before.model : null);
	return {
		...before,
		team: change.team ?? scope?.team ?? before.team,
		model,
		client: scope === undefined ? before.client : (scope.client ?? null),
		provider: scope === undefined ? before.provider : (scope.provider ?? null),
		attribute: scope === undefined ? before.attribute : (scope.attribute ?? null),
		window,
		timezone: change.timezone ?? before.timezone,
		weekStart: change.week_start ?? before.weekStart,
		limitNanoUsd: limitUsd === undefined ? before.limitNanoUsd : nanoUsdOf(limitUsd),
		warningThresholdPercent: change.warning_threshold_percent ?? before.warningThresholdPercent,
		hardLimitPercent: change.hard_limit_percent ?? before.hardLimitPercent,
		whenExceeded,
		// Another action leaves no model behind, unless the body names one.
		fallbackModel: whenExceeded === 'fallback_model' || change.fallback_model !== undefined ? fallbackModel : null,
		raise: raise === undefined ? before.raise : raise && { limitNanoUsd: nanoUsdOf(raise.limit_usd), untilMs: Date.parse(raise.until) },
		mode: change.mode ?? before.mode,
	};
}

function windowOf({ window, period }: Pick<Input, 'window' | 'period'>): BudgetWindow | undefined {
	if (period !== 'monthly') return window;
	requireSame('period', 'month', 'window', window);
	return 'month';
}

function requireSame(path: string, value: unknown, otherPath: string, other: unknown): void {
	if (value !== undefined && other !== undefined && value !== other) throw fieldInvalid(path, `must agree with \`${otherPath}\``);
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

/** @param before the stored budget, whose raise may have ended. */
function checkBudget(deps: AdminDeps, record: Budget, before?: Budget): void {
	const { warningThresholdPercent, hardLimitPercent, timezone, limitNanoUsd, raise } = record;
	if (warningThresholdPercent > hardLimitPercent) throw fieldInvalid('warning_threshold_percent', 'must not be above hard_limit_percent');
	if (!isTimeZone(timezone)) throw fieldInvalid('timezone', `is \`${timezone}\`, which is no time zone: use one such as \`Europe/Berlin\``);
	checkProvider(deps, record);
	checkFallback(record);
	if (raise === null || (raise.untilMs === before?.raise?.untilMs && raise.limitNanoUsd === before.raise.limitNanoUsd)) return;
	if (raise.untilMs <= deps.clock.nowMs()) throw fieldInvalid('raise.until', 'has passed: a raise must end in the future');
	if (raise.limitNanoUsd <= limitNanoUsd) throw fieldInvalid('raise.limit_usd', 'must be above limit_usd');
}

function checkProvider({ configured, nearestName }: AdminDeps, { provider }: Budget): void {
	const names = configured().providers.map(({ name }) => name);
	if (provider === null || names.includes(provider)) return;
	const nearest = nearestName(provider, names);
	const hint = nearest === undefined ? `use ${names.join(', ')}` : `did you mean ${nearest}?`;
	throw fieldInvalid('scope.provider', `is \`${provider}\`, an unknown provider, so that nothing would count: ${hint}`);
}

/** A fallback that the budget counts as the same model would be no other model. */
function checkFallback({ whenExceeded, fallbackModel, model }: Budget): void {
	if (whenExceeded !== 'fallback_model') {
		if (fallbackModel !== null) throw fieldInvalid('fallback_model', 'needs `when_exceeded: fallback_model`');
		return;
	}
	if (fallbackModel === null) throw fieldInvalid('fallback_model', 'is required for `when_exceeded: fallback_model`');
	if (fallbackModel.includes('*')) throw fieldInvalid('fallback_model', 'must be one model, not a pattern');
	if (model === null) return;
	const slash = fallbackModel.indexOf('/');
	const names = [fallbackModel, fallbackModel.slice(slash + 1)];
	const provider = slash === -1 ? '' : fallbackModel.slice(0, slash);
	if (names.some((name) => isInModels(model, { provider, model: name }))) {
		throw fieldInvalid('fallback_model', `is a model that the budget itself limits by \`${model}\`: use another model`);
	}
}

async function checkTeam({ teamLookup }: AdminDeps, team: string): Promise<void> {
	if (await teamLookup.isKnown(team)) return;
	const message = `Team \`${team}\` does not exist. Create it with \`tollgate team create --id ${team}\`.`;
	throw fieldInvalid('team', message, message);
}

function scopeTaken(record: Budget) {
	const { team, model, window } = record;
	if (window === 'month' && record.client === null && record.provider === null && record.attribute === null) {
		const what = model === null ? 'all models' : 'this model';
		return isFieldTaken('model', `must be unique for the team: \`${team}\` has a budget for ${what}`);
	}
	return isFieldTaken('window', `must be unique for the scope: \`${team}\` has a budget for the same requests and window \`${window}\``);
}
