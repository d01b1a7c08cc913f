import { z } from 'zod';
import { Rejection } from '../../../core/rejection.ts';
import type { Team } from '../../../core/team.ts';
import { findAllowListProblems } from '../../../policy/routing/allow-lists.ts';
import { providerNamed } from '../../../policy/routing/provider-names.ts';
import type { Author, Stored } from '../../../stores/contracts/records.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { pathText } from '../check-fields.ts';
import { FieldsRejection, fieldInvalid, isFieldTaken } from '../fields-rejection.ts';
import { type CsvResponse, defineOperation, type Operation } from '../operation.ts';
import { pageOf, pageQuery, sortUsageRows, takePage, whileSame } from '../page.ts';
import { allowListsOf } from '../schemas/allow-lists.ts';
import { limitsOf, team, teamBody, teamChange, teamInput } from '../schemas/team.ts';
import { named } from '../schemas/values.ts';
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

const tag = 'teams';
const one = { schema: team, hasEntityTag: true } as const;

const missing = missingRecord.team;

/** Fields that change no limit and no membership; a team's administrator may change these. */
const descriptiveFields = ['id', 'name', 'metadata', 'origin', 'created_at', 'updated_at'] as const satisfies readonly (keyof z.output<
	typeof teamChange
>)[];

const teamList = named('TeamList', pageOf(team));

export function teamOperations(deps: AdminDeps): Operation[] {
	const { records, configured, runExclusive, teamLookup } = deps;
	const inOrder = whileSame((stored: readonly Team[], pinned: readonly Team[]) => {
		const configIds = new Set(pinned.map(({ id }) => id));
		const all = [
			...stored.filter(({ id }) => !configIds.has(id)).map((record) => ({ record, isOfFile: false })),
			...pinned.map((record) => ({ record, isOfFile: true })),
		];
		return sortUsageRows(all, ({ record }) => record.id);
	});
	return [
		defineOperation({
			method: 'GET',
			path: '/teams',
			access: { needs: 'read', team: 'filtered' },
			tag,
			summary: 'List teams',
			query: z.strictObject({ ...pageQuery, client_id: z.string().optional().describe('Only the team that contains this client.') }),
			success: { status: 200, schema: teamList },
			run: async ({ query, authority }) => {
				const all = inOrder(await records.teams.list(), configured().configTeams);
				const { client_id: clientId } = query;
				const id = clientId === undefined ? undefined : (await teamLookup.teamsByClient()).get(clientId);
				const wanted = all.filter(({ row: { record } }) => (clientId === undefined || record.id === id) && reaches(authority, record.id));
				return { body: takePage(wanted, query, ({ record, isOfFile }) => teamBody(record, isOfFile)) };
			},
		}),
		defineOperation({
			method: 'POST',
			path: '/teams',
			access: { needs: 'write', team: 'denied' },
			tag,
			summary: 'Create a team',
			body: teamInput,
			success: { status: 201, ...one },
			rejections: ['record_conflict'],
			run: ({ body, author }) => runExclusive(() => createTeam(deps, body, author)),
		}),
		defineOperation({
			method: 'GET',
			path: '/teams/{id}',
			access: { needs: 'read', team: { record: 'team', param: 'id' } },
			tag,
			summary: 'Get a team',
			params: idParams,
			success: { status: 200, ...one },
			rejections: ['record_unknown'],
			run: async ({ params: { id } }) => {
				const pinned = configured().configTeams.find((record) => record.id === id);
				return pinned === undefined ? teamResult(await storedTeam(deps, id)) : { body: teamBody(pinned, true) };
			},
		}),
		defineOperation({
			method: 'PUT',
			path: '/teams/{id}',
			access: { needs: 'write', team: { record: 'team', param: 'id', fields: descriptiveFields } },
			tag,
			summary: 'Update a team',
			description: 'Omitted fields stay unchanged.',
			params: idParams,
			body: teamChange,
			success: { status: 200, ...one },
			rejections: ['record_unknown', 'record_read_only', 'record_conflict', 'record_stale'],
			run: ({ params: { id }, body, ifMatch, author }) => runExclusive(() => changeTeam(deps, id, body, { ifMatch, author })),
		}),
		defineOperation({
			method: 'DELETE',
			path: '/teams/{id}',
			access: { needs: 'write', team: 'denied' },
			tag,
			summary: 'Delete a team',
			description: 'Its budgets are deleted with it; its usage stays.',
			params: idParams,
			success: { status: 204 },
			rejections: ['record_unknown', 'record_read_only', 'record_stale'],
			run: ({ params: { id }, ifMatch, author }) =>
				runExclusive(async () => {
					requireUnpinned(deps, id);
					return deleteStored(records.teams, id, missing(id), { ifMatch, author });
				}),
		}),
	];
}

async function createTeam(deps: AdminDeps, input: z.output<typeof teamInput>, author: Author): Promise<CsvResponse> {
	const id = input.id ?? (input.name === undefined ? undefined : slugOf(input.name));
	if (id === undefined) throw fieldInvalid('name', 'is required if `id` is missing');
	if (id === '') throw fieldInvalid('id', 'is required: no id can be derived from this name');
	const taken = () =>
		input.id === undefined
			? isFieldTaken('name', `leads to the id \`${id}\`, which another team has: set \`id\``)
			: isFieldTaken('id', `must be unique: there is a team \`${id}\``);
	if (isFromConfig(deps, id)) throw taken();
	const allowLists = allowListsOf(input, undefined, providerNamer(deps));
	const record: Team = {
		id,
		name: input.name ?? id,
		tier: input.tier ?? 'sandbox',
		clientIds: input.client_ids ?? [],
		limits: limitsOf(input.limits),
		...(allowLists !== undefined && { allowLists }),
		metadata: { ...input.metadata },
		createdAtMs: author.atMs,
		updatedAtMs: author.atMs,
	};
	await checkTeam(deps, record);
	if (allowLists !== undefined) checkAllowLists(deps, record);
	const outcome = await deps.records.teams.create(record, { author });
	if (outcome === 'id_taken') throw taken();
	if (outcome === 'client_taken') throw await clientTaken(deps, record);
	return respondCreated(teamResult(await storedTeam(deps, id)), '/teams', id);
}

async function changeTeam(
	deps: AdminDeps,
	id: string,
	change: z.output<typeof teamChange>,
	{ ifMatch, author }: RequestedChange,
): Promise<CsvResponse> {
	requireSameId(change, id);
	requireUnpinned(deps, id);
	const before = await storedTeam(deps, id);
	requireMatch(ifMatch, entityTag(before.version));
	const { version, allowLists: listsBefore, ...retained } = before;
	const allowLists = allowListsOf(change, listsBefore, providerNamer(deps));
	const record: Team = {
		...retained,
		...(change.name !== undefined && { name: change.name }),
		...(change.tier !== undefined && { tier: change.tier }),
		...(change.client_ids !== undefined && { clientIds: change.client_ids }),
		...(change.limits !== undefined && { limits: limitsOf(change.limits) }),
		...(allowLists !== undefined && { allowLists }),
		...(change.metadata !== undefined && { metadata: change.metadata }),
		updatedAtMs: author.atMs,
	};
	await checkTeam(deps, record);
	const { models, providers, require, tier } = change;
	if ([models, providers, require, tier].some((member) => member !== undefined)) checkAllowLists(deps, record);
	const outcome = await deps.records.teams.replace(record, { author, ifVersion: version });
	if (outcome === 'client_taken') throw await clientTaken(deps, record);
	if (outcome !== 'replaced') throw new Rejection('record_stale');
	return teamResult(await storedTeam(deps, id));
}

function teamResult(record: Stored<Team>): CsvResponse {
	return { body: teamBody(record, false), headers: { etag: entityTag(record.version) } };
}

function storedTeam({ records }: AdminDeps, id: string): Promise<Stored<Team>> {
	return findStored(records.teams, id, missing(id));
}

function isFromConfig({ configured }: AdminDeps, id: string): boolean {
	return configured().configTeams.some((record) => record.id === id);
}

function requireUnpinned(deps: AdminDeps, id: string): void {
	if (isFromConfig(deps, id)) {
		throw new Rejection('record_read_only', { message: 'The team is defined in the configuration file: change it in `teams.registered`' });
	}
}

function providerNamer({ configured }: AdminDeps): (name: string) => string {
	const { providers } = configured();
	return (name) => providerNamed(name, providers);
}

async function checkTeam(deps: AdminDeps, { id, tier, clientIds }: Team): Promise<void> {
	const { tiers, configTeams } = deps.configured();
	if (!Object.hasOwn(tiers, tier)) {
		const names = Object.keys(tiers);
		const nearest = deps.nearestName(tier, names);
		throw fieldInvalid(
			'tier',
			`is \`${tier}\`, an unknown tier: ${nearest === undefined ? `use ${names.join(', ')}` : `did you mean ${nearest}?`}`,
		);
	}
	const twice = clientIds.findIndex((clientId, index) => clientIds.indexOf(clientId) < index);
	if (twice !== -1) throw fieldInvalid(`client_ids[${twice}]`, 'is listed twice');
	const elsewhere = clientIn(configTeams, id, clientIds) ?? clientIn(await deps.records.teams.list(), id, clientIds);
	if (elsewhere !== undefined) throw elsewhere;
}

/** Checks lists when they or the tier's change: a later configuration may no longer have a provider that they name. */
function checkAllowLists({ configured }: AdminDeps, { tier, allowLists = {} }: Team): void {
	const { tiers, providers } = configured();
	const problems = findAllowListProblems(allowLists, providers, tiers[tier]?.allowLists);
	if (problems.length === 0) return;
	const errors = problems.map(({ path, message }) => ({ path: pathText(path), message }));
	throw new FieldsRejection('fields_invalid', errors);
}

/** Creates the rejection of a client id that another process assigned after the check. */
async function clientTaken({ records }: AdminDeps, { id, clientIds }: Team) {
	return clientIn(await records.teams.list(), id, clientIds) ?? isFieldTaken('client_ids', 'contain a client of another team');
}

function clientIn(teams: readonly Team[], id: string, clientIds: readonly string[]) {
	const owners = new Map(teams.flatMap((other) => (other.id === id ? [] : other.clientIds.map((clientId) => [clientId, other.id]))));
	for (const [index, clientId] of clientIds.entries()) {
		const owner = owners.get(clientId);
		if (owner !== undefined) return isFieldTaken(`client_ids[${index}]`, `is already in team \`${owner}\`: a client can be in one team`);
	}
	return undefined;
}

function slugOf(name: string): string {
	return name
		.normalize('NFKD')
		.toLowerCase()
		.replace(/\p{Mark}/gu, '')
		.replace(/[^a-z0-9]+/g, '-')
		.slice(0, 64)
		.replace(/^-|-$/g, '');
}
