/** Rights of an administrator, which follow from scopes. Scopes add up: none of them limits another. */
import { adminScope, teamOfScope } from '../../core/scope-names.ts';

export const adminPermissions = ['read', 'write', 'secrets'] as const;

export type AdminPermission = (typeof adminPermissions)[number];

export interface AdminRights {
	/** True for the scope `admin`, which includes every other one. */
	readonly isFull: boolean;
	/** Permissions for the records of all teams. `write` includes `read`, because every change returns the record. */
	readonly permissions: ReadonlySet<AdminPermission>;
	/** Teams of the scopes `admin:team:ID`. */
	readonly teams: ReadonlySet<string>;
}

export const fullRights: AdminRights = { isFull: true, permissions: new Set(adminPermissions), teams: new Set() };

const permissionsOf: Readonly<Record<string, readonly AdminPermission[]>> = {
	'admin:read': ['read'],
	'admin:write': ['read', 'write'],
	'admin:secrets': ['secrets'],
};

/** @param names scopes without the scope base; others than those of administrators are ignored. */
export function readAdminRights(names: readonly string[]): AdminRights {
	if (names.includes(adminScope)) return fullRights;
	return {
		isFull: false,
		permissions: new Set(names.flatMap((name) => (Object.hasOwn(permissionsOf, name) ? (permissionsOf[name] ?? []) : []))),
		teams: new Set(names.map(teamOfScope).filter((team) => team !== undefined)),
	};
}

export function isAdministrator({ isFull, permissions, teams }: AdminRights): boolean {
	return isFull || permissions.size > 0 || teams.size > 0;
}

/**
 * Returns whether the rights include everything that a client with this scope may do. `invoke` is included in every right, because it gives
 * no access to the admin API.
 */
export function includesScope({ isFull, permissions, teams }: AdminRights, name: string): boolean {
	if (isFull || name === 'invoke') return true;
	const team = teamOfScope(name);
	// A team's administrator reads, changes clients and creates secrets.
	if (team !== undefined) return teams.has(team) || adminPermissions.every((one) => permissions.has(one));
	const needed = Object.hasOwn(permissionsOf, name) ? permissionsOf[name] : undefined;
	return needed?.every((one) => permissions.has(one)) ?? false;
}
