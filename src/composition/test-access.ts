/** `tollgate access test`: what the configuration permits to an access token, without its issuer and without checking its signature. */
import type { AccessTest, AccessTestOptions } from '../cli/environment.ts';
import { loadConfig } from '../config/load.ts';
import type { Caller } from '../core/caller.ts';
import { Rejection } from '../core/rejection.ts';
import { systemClock } from '../io/system-clock.ts';
import { adminPermissions, readAdminRights } from '../policy/access/admin-rights.ts';
import { createCallerReader } from '../policy/access/caller-reader.ts';
import { checkClaims, readClaimedCaller, readClaimedIssuer } from '../policy/access/claims.ts';
import { readCompactToken } from '../policy/access/compact-token.ts';
import { invalidToken } from '../policy/access/invalid-token.ts';
import { readJsonObject } from '../policy/access/json-object.ts';
import { accessTokenSettings, callerRules } from './settings.ts';

/** @throws ConfigError. */
export function testAccess({ accessToken, configPath }: AccessTestOptions): AccessTest {
	const { config } = loadConfig({ configPath });
	const nowSeconds = systemClock.nowMs() / 1000;
	const rejected = (reason: string): AccessTest => ({ ...nothing, reason });
	try {
		const { payload } = readCompactToken(accessToken);
		const settings = accessTokenSettings(config);
		const issuer = readClaimedIssuer(payload);
		const accepted = issuer === settings.issuer ? settings : settings.otherIssuers.find((other) => other.issuer === issuer);
		if (accepted === undefined) {
			return rejected(`issuer ${JSON.stringify(issuer.slice(0, 200))} is neither auth.issuer nor in auth.issuers`);
		}
		const { expiresAtSeconds } = readClaimedCaller(claimsOf(payload));
		const isExpired = nowSeconds >= expiresAtSeconds + settings.clockSkewSeconds;
		const { issuer: name, audience } = accepted;
		const rules = callerRules(config);
		const caller = checkClaims(
			payload,
			{ ...settings, issuer: name, audience },
			isExpired ? expiresAtSeconds - 1 : nowSeconds,
			createCallerReader(rules),
		);
		return describe(caller, isExpired, rules.scopeBase);
	} catch (cause) {
		if (cause instanceof Rejection) return rejected(String(cause.cause));
		throw cause;
	}
}

const nothing: AccessTest = {
	accepted: false,
	reason: null,
	signature: 'not_checked',
	issuer: null,
	client_id: null,
	expires_at: null,
	expired: false,
	rule: null,
	scopes: [],
	granted_by_rule: [],
	team: null,
	permitted: { inference: false, admin: [], admin_teams: [] },
};

function claimsOf(payload: Buffer) {
	const claims = readJsonObject(payload);
	if (claims === undefined) throw invalidToken('claims are not one plain JSON object');
	return claims;
}

function describe({ issuer, clientId, expiresAtSeconds, scopes, grant }: Caller, isExpired: boolean, scopeBase: string): AccessTest {
	const prefix = `${scopeBase}/`;
	const names = [...scopes].filter((scope) => scope.startsWith(prefix)).map((scope) => scope.slice(prefix.length));
	const rights = readAdminRights(names);
	return {
		accepted: true,
		reason: null,
		signature: 'not_checked',
		issuer,
		client_id: clientId,
		expires_at: timeOf(expiresAtSeconds),
		expired: isExpired,
		rule: grant?.rule ?? null,
		scopes: [...scopes],
		granted_by_rule: [...(grant?.scopes ?? [])],
		team: grant?.team ?? null,
		permitted: {
			inference: names.includes('invoke'),
			admin: rights.isFull ? ['all'] : adminPermissions.filter((one) => rights.permissions.has(one)),
			admin_teams: [...rights.teams],
		},
	};
}

/** Null for times that no calendar has. */
function timeOf(seconds: number): string | null {
	const time = new Date(seconds * 1000);
	return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
