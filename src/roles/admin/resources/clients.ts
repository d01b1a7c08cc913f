import { z } from 'zod';
import { Rejection } from '../../../core/rejection.ts';
import { createClientsAdministration } from '../../../stores/contracts/clients-administration.ts';
import type { Author, ClientRecord, Stored } from '../../../stores/contracts/records.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { isFieldTaken } from '../fields-rejection.ts';
import { type CsvResponse, defineOperation, type Operation } from '../operation.ts';
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
import { named } from '../schemas/values.ts';
import { deleteStored, entityTag, findStored, idParams, requireMatch, requireSameId, respondCreated } from '../stored-records.ts';

const tag = 'clients';

/** Names no id, because a secret can be pasted in its place. */
const missing = 'The client does not exist: `tollgate client list` shows all ids';

const clientList = named('ClientList', pageOf(client));

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
			tag,
			summary: 'List OAuth clients',
			query: z.strictObject(pageQuery),
			success: { status: 200, schema: clientList },
			run: async ({ query }) => {
				const all = inOrder(await records.clients.list(), configured().configClients);
				const nowMs = clock.nowMs();
				const teams = await teamLookup.teamsByClient();
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
			tag,
			summary: 'Create an OAuth client',
			body: clientInput,
			success: { status: 201, schema: clientWithSecret, hasEntityTag: true },
			rejections: ['record_conflict'],
			run: ({ body, author }) => runExclusive(() => createClient(deps, body, author)),
		}),
		defineOperation({
			method: 'PUT',
			path: '/clients/{id}',
			tag,
			summary: 'Change, disable or enable an OAuth client',
			description:
				'Omitted fields stay unchanged. Access tokens that were issued stay valid for inference until they expire. The admin API applies the current permissions.',
			params: idParams,
			body: clientChange,
			success: { status: 200, schema: client, hasEntityTag: true },
			rejections: ['record_unknown', 'record_read_only', 'record_stale'],
			run: ({ params: { id }, body, ifMatch, author }) =>
				runExclusive(async () => {
					requireSameId(body, id);
					const { version, ...before } = await changeable(deps, id, ifMatch);
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
			tag,
			summary: 'Rotate the secret of an OAuth client',
			description: 'The old secret stays valid for `overlap_seconds`.',
			params: idParams,
			body: rotation,
			isBodyOptional: true,
			success: { status: 200, schema: clientWithSecret, hasEntityTag: true },
			rejections: ['record_unknown', 'record_read_only', 'record_stale'],
			run: ({ params: { id }, body, ifMatch, author }) =>
				runExclusive(async () => {
					const { version: ifVersion } = await changeable(deps, id, ifMatch);
					const overlapSeconds = body.overlap_seconds ?? defaultOverlapSeconds;
					const rotated = await administration(deps).rotateSecret(id, overlapSeconds, { author, ifVersion });
					if (rotated === undefined) throw new Rejection('record_unknown', { message: missing });
					return clientResult(deps, await storedClient(deps, id), rotated.secret);
				}),
		}),
		defineOperation({
			method: 'DELETE',
			path: '/clients/{id}',
			tag,
			summary: 'Delete an OAuth client',
			description:
				'Also removes the client from its team. Issued access tokens stay valid for inference until they expire; the admin API rejects them.',
			params: idParams,
			success: { status: 204 },
			rejections: ['record_unknown', 'record_read_only', 'record_stale'],
			run: ({ params: { id }, ifMatch, author }) =>
				runExclusive(async () => {
					requireUnpinned(deps, id);
					return deleteStored(records.clients, id, missing, { ifMatch, author });
				}),
		}),
	];
}

async function createClient(deps: AdminDeps, input: z.output<typeof clientInput>, author: Author): Promise<CsvResponse> {
	const taken = () => isFieldTaken('id', `must be unique: there is a client \`${input.id}\``);
	if (input.id !== undefined && configIdsOf(deps, input.id) !== undefined) throw taken();
	const { id, name, scopes = ['invoke'], may_set_attributes: canSetAttributes } = input;
	const created = await administration(deps).createClient({ id, name, scopes, canSetAttributes }, { author });
	if (created === 'id_taken') throw taken();
	const response = await clientResult(deps, await storedClient(deps, created.record.id), created.secret);
	return respondCreated(response, '/clients', created.record.id);
}

function administration({ records, clock }: AdminDeps) {
	return createClientsAdministration({ clients: records.clients, clock });
}

async function changeable(deps: AdminDeps, id: string, ifMatch: string | undefined): Promise<Stored<ClientRecord>> {
	requireUnpinned(deps, id);
	const found = await storedClient(deps, id);
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
	return findStored(records.clients, id, missing);
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
