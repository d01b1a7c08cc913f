import { z } from 'zod';
import { Rejection } from '../../../core/rejection.ts';
import { adminScope, isAdminScope } from '../../../core/scope-names.ts';
import { includesScope } from '../../../policy/access/admin-rights.ts';
import { createClientsAdministration } from '../../../stores/contracts/clients-administration.ts';
import type { Author, ClientRecord, Stored } from '../../../stores/contracts/records.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { isFieldTaken } from '../fields-rejection.ts';
import { type CsvResponse, defineOperation, type Operation, type OperationCall } from '../operation.ts';
import { pageOf, pageQuery, sortUsageRows, takePage, whileSame } from '../page.ts';
import {
	type ConfigClient,
	client,
	clientBody,
	clientChange,
	clientInput,
	clientWithSecret,
	configClientBody,
	rotation,
} from '../schemas/client.ts';
import { maxClients } from '../schemas/team.ts';
import { named } from '../schemas/values.ts';
import { deleteStored, entityTag, findStored, idParams, requireMatch, requireSameId, respondCreated } from '../stored-records.ts';
import { type Authority, missingRecord, onlyTeamOf, reaches, requireReach } from '../team-access.ts';

const tag = 'clients';

const clientList = named('ClientList', pageOf(client));

/** Fields that an administrator of the client’s team may set; `may_set_attributes` is for the whole platform. */
const fieldsOfTeam = ['id', 'name', 'scopes', 'disabled', 'team', 'secrets', 'origin', 'created_at', 'updated_at'] as const;

const defaultOverlapSeconds = 3600;

export function clientOperations(deps: AdminDeps): Operation[] {
	return [...readingOperations(deps), ...changingOperations(deps)];
}

function readingOperations(deps: AdminDeps): Operation[] {
	const { records, configured, clock, teamLookup } = deps;
	const inOrder = whileSame((stored: readonly ClientRecord[], pinned: readonly ConfigClient[]) => {
		const configIds = new Set(pinned.map(({ id }) => id));
		return sortUsageRows<ClientRecord | ConfigClient>([...stored.filter(({ id }) => !configIds.has(id)), ...pinned], ({ id }) => id);
	});
	return [
		defineOperation({
			method: 'GET',
			path: '/clients',
			access: { needs: 'read', team: 'filtered' },
			tag,
			summary: 'List OAuth clients',
			query: z.strictObject(pageQuery),
			success: { status: 200, schema: clientList },
			run: async ({ query, authority }) => {
				const nowMs = clock.nowMs();
				const teams = await teamLookup.teamsByClient();
				const all = inOrder(await records.clients.list(), configured().configClients).filter(({ name: id }) =>
					reaches(authority, teams.get(id)),
				);
				const bodyOf = (one: ClientRecord | ConfigClient) => {
					const team = teams.get(one.id);
					return 'secrets' in one ? clientBody(one, team, nowMs) : configClientBody(one, team);
				};
				return { body: takePage(all, query, bodyOf) };
			},
		}),
		defineOperation({
			method: 'GET',
			path: '/clients/{id}',
			access: { needs: 'read', team: { record: 'client', param: 'id' } },
			tag,
			summary: 'Get an OAuth client',
			params: idParams,
			success: { status: 200, schema: client, hasEntityTag: true },
			rejections: ['record_unknown'],
			run: async ({ params: { id } }) => {
				const pinned = configIdsOf(deps, id);
				if (pinned !== undefined) return { body: configClientBody(pinned, (await teamLookup.teamsByClient()).get(id)) };
				return clientResult(deps, await storedClient(deps, id));
			},
		}),
	];
}

function changingOperations(deps: AdminDeps): Operation[] {
	const { records, runExclusive } = deps;
	return [
		defineOperation({
			method: 'POST',
			path: '/clients',
			access: { needs: 'secrets', team: 'filtered' },
			tag,
			summary: 'Create an OAuth client',
			body: clientInput,
			success: { status: 201, schema: clientWithSecret, hasEntityTag: true },
			description:
				'The client can get only scopes that the requester has, and `invoke`. Administrators of a team create clients of the team with `invoke` only. With `team`, other administrators also need `admin:write`.',
			rejections: ['record_conflict', 'record_read_only'],
			run: ({ body, ...change }) => runExclusive(() => createClient(deps, body, change)),
		}),
		defineOperation({
			method: 'PUT',
			path: '/clients/{id}',
			access: { needs: 'write', team: { record: 'client', param: 'id', fields: fieldsOfTeam } },
			tag,
			summary: 'Change, disable or enable an OAuth client',
			description:
				'Omitted fields stay unchanged. Requires all scopes that the client has, and those that it gets, except `invoke`. Access tokens that were issued stay valid for inference until they expire. The admin API applies the current permissions.',
			params: idParams,
			body: clientChange,
			success: { status: 200, schema: client, hasEntityTag: true },
			rejections: ['record_unknown', 'record_read_only', 'record_stale'],
			run: ({ params: { id }, body, ifMatch, author, authority }) =>
				runExclusive(async () => {
					requireSameId(body, id);
					const { version, ...before } = await changeable(deps, id, ifMatch, authority);
					requireGrantable(authority, body.scopes?.filter((name) => !before.scopes.includes(name)) ?? []);
					const record: ClientRecord = {
						...before,
						name: body.name ?? before.name,
						scopes: body.scopes ?? before.scopes,
						isDisabled: body.disabled ?? before.isDisabled,
						canSetAttributes: body.may_set_attributes ?? before.canSetAttributes,
						updatedAtMs: author.atMs,
					};
					const outcome = await records.clients.replace(record, { author, ifVersion: version });
					if (outcome !== 'replaced') throw new Rejection('record_stale');
					return clientResult(deps, await storedClient(deps, id));
				}),
		}),
		defineOperation({
			method: 'POST',
			path: '/clients/{id}/rotate',
			access: { needs: 'secrets', team: { record: 'client', param: 'id' } },
			tag,
			summary: 'Rotate the secret of an OAuth client',
			description: 'The old secret stays valid for `overlap_seconds`. Requires all scopes that the client has, except `invoke`.',
			params: idParams,
			body: rotation,
			isBodyOptional: true,
			success: { status: 200, schema: clientWithSecret, hasEntityTag: true },
			rejections: ['record_unknown', 'record_read_only', 'record_stale'],
			run: ({ params: { id }, body, ifMatch, author, authority }) =>
				runExclusive(async () => {
					const { version: ifVersion } = await changeable(deps, id, ifMatch, authority);
					const overlapSeconds = body.overlap_seconds ?? defaultOverlapSeconds;
					const rotated = await administration(deps).rotateSecret(id, overlapSeconds, { author, ifVersion });
					if (rotated === undefined) throw new Rejection('record_unknown', { message: missingRecord.client(id) });
					return clientResult(deps, await storedClient(deps, id), rotated.secret);
				}),
		}),
		defineOperation({
			method: 'DELETE',
			path: '/clients/{id}',
			access: { needs: 'write', team: { record: 'client', param: 'id' } },
			tag,
			summary: 'Delete an OAuth client',
			description:
				'Also removes the client from its team. Requires all scopes that the client has, except `invoke`. Issued access tokens stay valid for inference until they expire; the admin API rejects them.',
			params: idParams,
			success: { status: 204 },
			rejections: ['record_unknown', 'record_read_only', 'record_stale'],
			run: ({ params: { id }, ifMatch, author, authority }) =>
				runExclusive(async () => {
					const { version } = await changeable(deps, id, ifMatch, authority);
					return deleteStored(records.clients, id, missingRecord.client(id), { ifMatch: entityTag(version), author });
				}),
		}),
	];
}

type Change = Pick<OperationCall<unknown, unknown, unknown>, 'author' | 'authority'>;

async function createClient(deps: AdminDeps, input: z.output<typeof clientInput>, { author, authority }: Change): Promise<CsvResponse> {
	const taken = () => isFieldTaken('id', `must be unique: there is a client \`${input.id}\``);
	if (input.id !== undefined && configIdsOf(deps, input.id) !== undefined) throw taken();
	const { id, name, scopes = ['invoke'], may_set_attributes: canSetAttributes } = input;
	requireGrantable(authority, scopes);
	if (canSetAttributes === true && !(authority.teams === 'all' && authority.rights.permissions.has('write'))) {
		throw authority.missing('admin:write');
	}
	const team = await teamToJoin(deps, input.team ?? undefined, authority);
	// Keeps a client id that a team lists, such as one of another issuer, out of the hands of another team.
	const owner = id === undefined ? undefined : (await deps.teamLookup.teamsByClient()).get(id);
	if (owner !== undefined && !reaches(authority, owner)) throw taken();
	if (owner !== undefined && team !== undefined && owner !== team) {
		throw isFieldTaken('team', `must be \`${owner}\`, which already lists the client: a client can be in one team`);
	}
	const created = await administration(deps).createClient({ id, name, scopes, canSetAttributes }, { author });
	if (created === 'id_taken') throw taken();
	if (team !== undefined && owner !== team) await joinTeam(deps, team, created.record.id, author);
	const response = await clientResult(deps, await storedClient(deps, created.record.id), created.secret);
	return respondCreated(response, '/clients', created.record.id);
}

/**
 * Returns the team of a new client. An administrator of a team creates clients only in it: a client without a team would have limits of
 * its own.
 * @throws `Rejection` `record_unknown`, `record_read_only`, `scope_missing`; `FieldsRejection` `fields_invalid`.
 */
async function teamToJoin(deps: AdminDeps, requested: string | undefined, authority: Authority): Promise<string | undefined> {
	const { teams, rights } = authority;
	const team = requested ?? (teams === 'all' ? undefined : onlyTeamOf(teams));
	if (team === undefined) return undefined;
	requireReach(authority, team);
	if (teams === 'all' && !rights.permissions.has('write')) throw authority.missing('admin:write');
	if (deps.configured().configTeams.some((one) => one.id === team)) {
		throw new Rejection('record_read_only', {
			message: `Team \`${team}\` is defined in the configuration file: add the client to its \`client_ids\` there`,
		});
	}
	const { clientIds } = await findStored(deps.records.teams, team, missingRecord.team(team));
	if (clientIds.length >= maxClients) throw isFieldTaken('team', `must have fewer than ${maxClients} clients`);
	return team;
}

const maxJoinAttempts = 10;

/** Deletes the client again if it cannot join, because its secret was not returned yet. */
async function joinTeam({ records }: AdminDeps, team: string, clientId: string, author: Author): Promise<void> {
	let outcome: Awaited<ReturnType<typeof records.teams.replace>> = 'stale';
	for (let attempt = 0; attempt < maxJoinAttempts && outcome === 'stale'; attempt++) {
		const found = await records.teams.get(team);
		if (found === undefined) break;
		const { version, ...record } = found;
		const next = { ...record, clientIds: [...record.clientIds, clientId], updatedAtMs: author.atMs };
		outcome = await records.teams.replace(next, { author, ifVersion: version });
	}
	if (outcome === 'replaced') return;
	await records.clients.delete(clientId, { author });
	throw new Rejection('record_conflict', { message: `The client could not join team \`${team}\`, which changed at the same time` });
}

/** Lets a requester grant only what it has. @throws `Rejection` `scope_missing`. */
function requireGrantable(authority: Authority, names: readonly string[]): void {
	requireAllScopes(authority, names);
	const forAdministrators = authority.teams === 'all' ? undefined : names.find(isAdminScope);
	if (forAdministrators !== undefined) throw authority.missing(adminScope);
}

/** Requires everything that a client with these scopes may do. @throws `Rejection` `scope_missing`. */
function requireAllScopes({ rights, missing }: Authority, names: readonly string[]): void {
	const unheld = names.find((name) => !includesScope(rights, name));
	if (unheld !== undefined) throw missing(unheld);
}

function administration({ records, clock }: AdminDeps) {
	return createClientsAdministration({ clients: records.clients, clock });
}

async function changeable(deps: AdminDeps, id: string, ifMatch: string | undefined, authority: Authority): Promise<Stored<ClientRecord>> {
	requireUnpinned(deps, id);
	const found = await storedClient(deps, id);
	requireAllScopes(authority, found.scopes);
	requireMatch(ifMatch, entityTag(found.version));
	return found;
}

function requireUnpinned(deps: AdminDeps, id: string): void {
	if (configIdsOf(deps, id) !== undefined) {
		throw new Rejection('record_read_only', {
			message: 'The client is defined in the configuration file: change it in `identity.clients`',
		});
	}
}

function storedClient({ records }: AdminDeps, id: string): Promise<Stored<ClientRecord>> {
	return findStored(records.clients, id, missingRecord.client(id));
}

function configIdsOf({ configured }: AdminDeps, id: string) {
	return configured().configClients.find((pinned) => pinned.id === id);
}

async function clientResult({ clock, teamLookup }: AdminDeps, record: Stored<ClientRecord>, secret?: string): Promise<CsvResponse> {
	const body = clientBody(record, (await teamLookup.teamsByClient()).get(record.id), clock.nowMs());
	return {
		body: secret === undefined ? body : { ...body, client_secret: secret },
		headers: { etag: entityTag(record.version) },
	};
}
