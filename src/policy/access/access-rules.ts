/** Rules that grant scopes and a team by the claims of a verified access token (`access.rules`). */
import { matchesWildcard } from '../../core/wildcard-pattern.ts';
import type { JsonObject } from './json-object.ts';

export interface AccessRule {
	/** Exact `iss` of the tokens that the rule is for. */
	readonly issuer: string;
	/** All of these claims must match. */
	readonly claims: readonly ClaimCondition[];
	/** Scopes without the scope base. */
	readonly scopes: readonly string[];
	/** Team of the client; null: by its id. */
	readonly team: string | null;
}

export interface ClaimCondition {
	/** Name of a claim, or names of nested objects and the claim, separated by dots. */
	readonly claim: string;
	/** The claim, or one member of a list, must match one of these. `*` stands for any characters. */
	readonly patterns: readonly string[];
}

/** @returns the index of the first rule that matches; -1: none. */
export function findAccessRule(rules: readonly AccessRule[], claims: JsonObject, issuer: string): number {
	return rules.findIndex((rule) => rule.issuer === issuer && rule.claims.every((condition) => isMet(condition, claims)));
}

function isMet({ claim, patterns }: ClaimCondition, claims: JsonObject): boolean {
	return textsOf(claimNamed(claim, claims)).some((text) => patterns.some((pattern) => matchesWildcard(pattern, text)));
}

/** Returns a claim of exactly this name, which may contain dots, or else the nested one. */
function claimNamed(name: string, claims: JsonObject): unknown {
	if (Object.hasOwn(claims, name)) return claims[name];
	let found: unknown = claims;
	for (const step of name.split('.')) {
		if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, step)) return undefined;
		found = (found as JsonObject)[step];
	}
	return found;
}

/** Only texts match: numbers, booleans, objects and lists in lists never do. */
function textsOf(value: unknown): string[] {
	if (typeof value === 'string') return [value];
	return Array.isArray(value) ? value.filter((member) => typeof member === 'string') : [];
}
