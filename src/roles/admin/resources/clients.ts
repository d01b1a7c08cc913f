import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '../../../core/refusal.ts';
import { createClientsAdministration } from '../../../stores/contracts/clients-administration.ts';
import type { Author, ClientRecord, ClientStore } from '../../../stores/contracts/records.ts';
import type { AdminParts } from '../admin-parts.ts';
import { entityTag, requireMatch } from '../entity-tag.ts';
import { fieldInvalid, fieldTaken } from '../fields-refusal.ts';
import { type Answer, defineOperation, type Operation } from '../operation.ts';
import { pageOf, pageQuery, takePage } from '../page.ts';
import { client, clientBody, clientChange, clientWish, clientWithSecret, pinnedClientBody, rotation } from '../schemas/client.ts';
import { named } from '../schemas/values.ts';

const tag = 'clients';
const params = z.strictObject({ id: z.string() });

const clientList = named('ClientList', pageOf(client));

const defaultOverlapSeconds = 3600;

export function clientOperations(parts: AdminParts): Operation[] {
	return [...readingOperations(parts), ...changingOperations(parts)];
}

function readingOperations(parts: AdminParts): Operation[] {
	const { records, configured, clock } = parts;
	return [
		defineOperation({
			method: 'GET',
			path: '/clients',
			tag,
			summary: 'List OAuth clients',
			query: z.strictObject(pageQuery),
			success: { status: 200, schema: clientList },
			run: async ({ query }) => {
				const pinned = configured().pinnedClients.map(({ id, name, scopes }) => pinnedClientBody(id, name, scopes));
				const pinnedIds = new Set(pinned.map(({ id }) => id));
				const stored = (await records.clients.list()).filter(({ id }) => !pinnedIds.has(id));
				return { body: takePage([...stored.map((record) => clientBody(record, clock.nowMs())), ...pinned], ({ id }) => id, query) };
			},
		}),
		defineOperation({
			method: 'GET',
			path: '/clients/{id}',
			tag,
			summary: 'An OAuth client',
			params,
			success: { status: 200, schema: client, hasEntityTag: true },
			refusals: ['record_unknown'],
			run: async ({ params: { id } }) => {
				const pinned = pinnedOf(parts, id);
				if (pinned !== undefined) return { body: pinnedClientBody(pinned.id, pinned.name, pinned.scopes) };
				return answerClient(parts, await storedClient(parts, id));
			},
		}),
	];
}

function changingOperations(parts: AdminParts): Operation[] {
	const { records, takeTurn } = parts;
	return [
		defineOperation({
			method: 'POST',
			path: '/clients',
			tag,
			summary: 'Create an OAuth client',
			body: clientWish,
			success: { status: 201, schema: clientWithSecret, hasEntityTag: true },
			refusals: ['record_taken'],
			run: ({ body, author }) => takeTurn(() => createClient(parts, body, author)),
		}),
		defineOperation({
			method: 'PUT',
			path: '/clients/{id}',
			tag,
			summary: 'Change, disable or enable an OAuth client',
			description: 'What is left out stays as it is. Access tokens that it already has stay valid until they expire.',
			params,
			body: clientChange,
			success: { status: 200, schema: client, hasEntityTag: true },
			refusals: ['record_unknown', 'record_pinned', 'record_stale'],
			run: ({ params: { id }, body, ifMatch, author }) =>
				takeTurn(async () => {
					if (body.id !== undefined && body.id !== id) throw fieldInvalid('id', 'must be the one of the address: an id never changes');
					const before = await changeable(parts, id, ifMatch);
					const record: ClientRecord = {
						...before,
						name: body.name ?? before.name,
						scopes: body.scopes ?? before.scopes,
						isDisabled: body.disabled ?? before.isDisabled,
						updatedAtMs: author.atMs,
					};
					if (!(await records.clients.replace(record, author))) throw new Refusal('record_stale');
					return answerClient(parts, record);
				}),
		}),
		defineOperation({
			method: 'POST',
			path: '/clients/{id}/rotate',
			tag,
			summary: 'Give an OAuth client a new secret',
			description: 'The old one works for `overlap_seconds` more.',
			params,
			body: rotation,
			isBodyOptional: true,
			success: { status: 200, schema: clientWithSecret, hasEntityTag: true },
			refusals: ['record_unknown', 'record_pinned', 'record_stale'],
			run: ({ params: { id }, body, ifMatch, author }) =>
				takeTurn(async () => {
					await changeable(parts, id, ifMatch);
					const rotated = await administration(parts, author).rotateSecret(id, body.overlap_seconds ?? defaultOverlapSeconds);
					if (rotated === undefined) throw new Refusal('record_unknown', { message: 'No client has this id' });
					return answerClient(parts, rotated.record, rotated.secret);
				}),
		}),
		defineOperation({
			method: 'DELETE',
			path: '/clients/{id}',
			tag,
			summary: 'Delete an OAuth client',
			description: 'It leaves its team as well. Access tokens that it already has stay valid until they expire.',
			params,
			success: { status: 204 },
			refusals: ['record_unknown', 'record_pinned', 'record_stale'],
			run: ({ params: { id }, ifMatch, author }) =>
				takeTurn(async () => {
					await changeable(parts, id, ifMatch);
					await records.clients.delete(id, author);
					return {};
				}),
		}),
	];
}

async function createClient(parts: AdminParts, wish: z.output<typeof clientWish>, author: Author): Promise<Answer> {
	const taken = () => fieldTaken('id', `is taken: there is a client \`${wish.id}\``);
	if (wish.id !== undefined && pinnedOf(parts, wish.id) !== undefined) throw taken();
	const created = await administration(parts, author).createClient({ id: wish.id, name: wish.name, scopes: wish.scopes ?? ['invoke'] });
	if (created === 'id_taken') throw taken();
	const { headers, ...answer } = answerClient(parts, created.record, created.secret);
	return { ...answer, headers: { ...headers, location: `/clients/${encodeURIComponent(created.record.id)}` } };
}

/** The rules of clients, with this author's name under every change. */
function administration({ records, clock }: AdminParts, author: Author) {
	const clients: ClientStore = {
		get: (id) => records.clients.get(id),
		list: () => records.clients.list(),
		create: (record) => records.clients.create(record, author),
		replace: (record) => records.clients.replace(record, author),
		delete: (id) => records.clients.delete(id, author),
	};
	return createClientsAdministration({ clients, clock });
}

async function changeable(parts: AdminParts, id: string, ifMatch: string | undefined): Promise<ClientRecord> {
	if (pinnedOf(parts, id) !== undefined) {
		throw new Refusal('record_pinned', { message: 'The client is part of the configuration: change it there' });
	}
	const found = await storedClient(parts, id);
	requireMatch(ifMatch, tagOf(found));
	return found;
}

async function storedClient({ records }: AdminParts, id: string): Promise<ClientRecord> {
	const found = await records.clients.get(id);
	if (found === undefined) throw new Refusal('record_unknown', { message: 'No client has this id' });
	return found;
}

function pinnedOf({ configured }: AdminParts, id: string) {
	return configured().pinnedClients.find((pinned) => pinned.id === id);
}

function answerClient({ clock }: AdminParts, record: ClientRecord, secret?: string): Answer {
	const body = clientBody(record, clock.nowMs());
	return {
		body: secret === undefined ? body : { ...body, client_secret: secret },
		headers: { etag: tagOf(record) },
	};
}

/** Clients carry no version. Their secrets are hashed and salted, so that this hash of the record tells nothing of them. */
function tagOf({ id, name, secrets, scopes, isDisabled, createdAtMs, updatedAtMs }: ClientRecord): string {
	const state = JSON.stringify([
		id,
		name,
		secrets.map(({ hash, expiresAtMs }) => [hash, expiresAtMs]),
		scopes,
		isDisabled,
		createdAtMs,
		updatedAtMs,
	]);
	return entityTag(createHash('sha256').update(state).digest('hex').slice(0, 32));
}
