/** Names of scopes, without the scope base. */
import { maxTeamIdLength } from './team.ts';

export const adminScope = 'admin';

/** Scopes except `admin:team:ID`, of which there is one per team. */
export const fixedScopeNames = ['invoke', adminScope, 'admin:read', 'admin:write', 'admin:secrets'] as const;

const teamPrefix = 'admin:team:';

/** Maximum number of scopes of a client. */
export const maxScopes = 20;

export const maxScopeLength = teamPrefix.length + maxTeamIdLength;
/** Ids of teams are as in `teamIdPattern`. The length is limited separately. */
export const scopePattern = /^(?:invoke|admin(?::(?:read|write|secrets|team:\.*[a-z0-9_-][a-z0-9._-]*))?)$/;

export const scopeNameRule = `must be ${fixedScopeNames.join(', ')}, or ${teamPrefix}ID with the id of a team`;

export function isScopeName(name: string): boolean {
	return name.length <= maxScopeLength && scopePattern.test(name);
}

/** True for every scope that gives access to the admin API. */
export function isAdminScope(name: string): boolean {
	return name === adminScope || name.startsWith(`${adminScope}:`);
}

/** Returns the team of an `admin:team:ID` scope, and undefined for other names. */
export function teamOfScope(name: string): string | undefined {
	return name.startsWith(teamPrefix) && isScopeName(name) ? name.slice(teamPrefix.length) : undefined;
}

export function scopeOfTeam(team: string): string {
	return teamPrefix + team;
}
