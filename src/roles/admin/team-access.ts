/** Access of team administrators (`admin:team:ID`) to an operation, as data of the operation. */
import { Rejection } from '../../core/rejection.ts';
import { adminScope, scopeOfTeam } from '../../core/scope-names.ts';
import type { AdminPermission, AdminRights } from '../../policy/access/admin-rights.ts';
import { scopeMissing } from '../../policy/access/require-scope.ts';
import { fieldInvalid } from './fields-rejection.ts';

/**
 * - `denied`: rejected with 403.
 * - `shared`: the same as for other administrators.
 * - `filtered`: the operation itself uses only records of `Authority.teams`.
 * - `{ query }`: the filter of this name is set to the administrator's team.
 * - `{ record }`: the record in the path must be the team, or one of the team; otherwise 404, as if it did not exist.
 */
export type TeamAccess = 'denied' | 'shared' | 'filtered' | { readonly query: 'team' } | RecordAccess;

export interface RecordAccess {
	readonly record: RecordKind;
	/** Parameter of the path with the record's id. */
	readonly param: string;
	/** The only fields that the body may have; by default all. Others require `admin:write`. */
	readonly fields?: readonly string[];
}

type RecordKind = keyof typeof missingRecord;

/** Messages for records that do not exist, or that the requester must not learn of. */
export const missingRecord = {
	team: (id: string): string => `Team \`${id}\` does not exist`,
	budget: (id: string): string => `Budget \`${id}\` does not exist`,
	request: (id: string): string =>
		`Request ${id.slice(0, 256)} does not exist, its record was deleted, or it is written within the next second`,
	/** Names no id, because a secret can be pasted in its place. */
	client: (_id: string): string => 'The client does not exist: `tollgate client list` shows all ids',
} as const;

export interface AdminAccess {
	/** Permission for the records of all teams. */
	readonly needs: AdminPermission;
	readonly team: TeamAccess;
}

/** Rights of one request. */
export interface Authority {
	readonly rights: AdminRights;
	/** Teams whose records the request may use. */
	readonly teams: ReadonlySet<string> | 'all';
	/** Rejection that names the scope that is missing. @param name without the scope base. */
	missing(name: string): Rejection;
}

/** @throws `Rejection` `scope_missing`, which names the scope that the operation needs. */
export function authorize(rights: AdminRights, { needs, team }: AdminAccess, scopeBase: string): Authority {
	const missing = (name: string): Rejection => scopeMissing(`${scopeBase}/${name}`);
	if (rights.isFull || rights.permissions.has(needs)) return { rights, teams: 'all', missing };
	if (team === 'denied' || rights.teams.size === 0) throw missing(`${adminScope}:${needs}`);
	return { rights, teams: rights.teams, missing };
}

/** @param team undefined for a record of no team. */
export function reaches({ teams }: Pick<Authority, 'teams'>, team: string | undefined): boolean {
	return teams === 'all' || (team !== undefined && teams.has(team));
}

/** @throws `Rejection` `record_unknown` for another team. */
export function requireReach(authority: Pick<Authority, 'teams'>, team: string): void {
	if (!reaches(authority, team)) throw new Rejection('record_unknown', { message: missingRecord.team(team) });
}

/**
 * Returns the only team of the requester, for requests that name none.
 * @throws `FieldsRejection` `fields_invalid` if there are several.
 */
export function onlyTeamOf(teams: ReadonlySet<string>): string {
	const [first = '', ...others] = teams;
	if (others.length > 0) throw fieldInvalid('team', `is required, because the access token is for several teams: ${[...teams].join(', ')}`);
	return first;
}

/** Returns the team of a record; undefined if it does not exist or belongs to none. */
export type FindTeamOf = (kind: Exclude<RecordKind, 'team'>, id: string) => Promise<string | undefined>;

/**
 * Limits a request of a team administrator to its teams, before the operation runs.
 * @returns the query to run.
 * @throws `Rejection` `record_unknown`, `scope_missing`; `FieldsRejection` `fields_invalid`.
 */
export async function limitToTeams(
	access: TeamAccess,
	{ authority, params, query, body }: { authority: Authority; params: Readonly<Record<string, unknown>>; query: object; body: unknown },
	findTeamOf: FindTeamOf,
): Promise<object> {
	const { teams } = authority;
	if (teams === 'all' || typeof access === 'string') return query;
	if ('query' in access) {
		const { team } = query as { team?: string };
		if (team !== undefined) requireReach(authority, team);
		return { ...query, team: team ?? onlyTeamOf(teams) };
	}
	const id = String(params[access.param]);
	const owner = access.record === 'team' ? id : await findTeamOf(access.record, id);
	if (!reaches(authority, owner)) throw new Rejection('record_unknown', { message: missingRecord[access.record](id) });
	const { fields } = access;
	const isLimited = fields !== undefined && typeof body === 'object' && body !== null;
	if (isLimited && !Object.keys(body).every((name) => fields.includes(name))) throw authority.missing(`${adminScope}:write`);
	return query;
}

/** Scopes that permit the operation, each enough alone, without the scope base. */
export function scopesFor({ needs, team }: AdminAccess): string[] {
	const wide = needs === 'read' ? ['admin:read', 'admin:write'] : [`${adminScope}:${needs}`];
	return [...wide, adminScope, ...(team === 'denied' ? [] : [scopeOfTeam('{team}')])];
}
