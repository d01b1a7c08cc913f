/** Client commands over the admin API. */
import { CommandFailure } from '../command-failure.ts';
import type { AdminApi, ClientOperations, ListedClient } from '../environment.ts';
import { AdminRejection, readRows, requestAdmin } from './admin-request.ts';
import type { Row } from './resource.ts';

export function createClientOperations(api: AdminApi): ClientOperations {
	return {
		async create({ id, name, scopes, team, maySetAttributes }) {
			if (team !== undefined && (await find(api, teamPath(team)))?.body['origin'] === 'config') {
				throw new CommandFailure(1, `team: \`${team}\` is defined in the configuration file: add the client to its client_ids there`);
			}
			const input = { name, scopes, ...(id !== undefined && { id }), ...(maySetAttributes === true && { may_set_attributes: true }) };
			const created = await orStatus(409, requestAdmin(api, { method: 'POST', path: '/clients', body: input }));
			if (created === 409) return 'id_taken';
			const client = { id: String(created.body['id']), secret: String(created.body['client_secret']) };
			try {
				return team === undefined ? client : { ...client, isTeamNew: await joinTeam(api, team, client.id) };
			} catch (cause) {
				if (!(cause instanceof Error)) throw cause;
				return { ...client, teamFailure: cause };
			}
		},
		async list() {
			const { rows } = await readRows(api, '/clients', {}, Number.POSITIVE_INFINITY);
			return rows.filter(({ origin }) => origin !== 'config').map(listedOf);
		},
		async rotate(id, overlapSeconds) {
			const request = { method: 'POST', path: `${clientPath(id)}/rotate`, body: { overlap_seconds: overlapSeconds } } as const;
			const rotated = await orStatus(404, requestAdmin(api, request));
			return rotated === 404 ? undefined : { secret: String(rotated.body['client_secret']) };
		},
		delete: async (id) => (await orStatus(404, requestAdmin(api, { method: 'DELETE', path: clientPath(id) }))) !== 404,
		close: () => api.close(),
	};
}

/** Retries when somebody else changes the team at the same time. @returns true if the team was created for the client. */
async function joinTeam(api: AdminApi, team: string, clientId: string): Promise<boolean> {
	for (let attempt = 0; attempt < 10; attempt++) {
		const known = await find(api, teamPath(team));
		try {
			if (known === undefined) {
				await requestAdmin(api, { method: 'POST', path: '/teams', body: { id: team, client_ids: [clientId] } });
				return true;
			}
			const clientIds = known.body['client_ids'] as string[];
			if (clientIds.includes(clientId)) return false;
			const headers = { 'if-match': known.etag ?? '*' };
			await requestAdmin(api, { method: 'PUT', path: teamPath(team), headers, body: { client_ids: [...clientIds, clientId] } });
			return false;
		} catch (cause) {
			const status = cause instanceof AdminRejection ? cause.status : undefined;
			const isMadeMeanwhile = known === undefined && status === 409 && (await find(api, teamPath(team))) !== undefined;
			if (status !== 412 && !isMadeMeanwhile) throw cause;
		}
	}
	throw new CommandFailure(
		2,
		`client ${clientId} was created but not added to team ${team}, which changed concurrently: set its clients with tollgate team set ${team} --clients`,
	);
}

async function find(api: AdminApi, path: string): Promise<Awaited<ReturnType<typeof requestAdmin>> | undefined> {
	const found = await orStatus(404, requestAdmin(api, { method: 'GET', path }));
	return found === 404 ? undefined : found;
}

async function orStatus<Response, Status extends number>(status: Status, response: Promise<Response>): Promise<Response | Status> {
	try {
		return await response;
	} catch (cause) {
		if (cause instanceof AdminRejection && cause.status === status) return status;
		throw cause;
	}
}

function listedOf(row: Row): ListedClient {
	return {
		id: String(row['id']),
		name: String(row['name']),
		team: row['team'] as string | null,
		scopes: row['scopes'] as string[],
		secrets: row['secrets'] as unknown[],
		isDisabled: row['disabled'] === true,
		canSetAttributes: row['may_set_attributes'] === true,
		createdAtMs: Date.parse(String(row['created_at'])),
	};
}

const clientPath = (id: string): string => `/clients/${encodeURIComponent(id)}`;
const teamPath = (id: string): string => `/teams/${encodeURIComponent(id)}`;
