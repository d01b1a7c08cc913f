import { createSeededRandom, type SeededRandom } from '../seeded-random.ts';
import { readFaultNames } from './fault-names.ts';
import type { FaultPlan } from './fault-plan.ts';

/** Selects the requests for a rule or a recording; absent members match all. */
export interface RequestMatch {
	readonly dialect?: string | undefined;
	/** Suffix of the client's key. */
	readonly key?: string | undefined;
	readonly model?: string | undefined;
	/** Suffix of the path. */
	readonly path?: string | undefined;
}

export interface MatchedRequest {
	readonly wire: string;
	readonly key: string;
	readonly model: string;
	readonly path: string;
}

export function matchesRequest(match: RequestMatch, call: MatchedRequest): boolean {
	if (match.dialect !== undefined && match.dialect !== call.wire) return false;
	if (match.key !== undefined && !call.key.endsWith(match.key)) return false;
	if (match.path !== undefined && !call.path.endsWith(match.path)) return false;
	return match.model === undefined || match.model === call.model;
}

export interface FaultRule extends RequestMatch {
	readonly fault: string;
	/** Share of matching requests that get the fault, 0 to 1. */
	readonly rate: number;
	/** Number of requests that can still get the fault; null means no limit. */
	readonly remaining: number | null;
}

export interface FaultRules {
	add(rule: RequestMatch & { fault: string; rate: number; count: number | null; seed: number }): void;
	list(): FaultRule[];
	clear(): void;
	/** Merges the faults of all rules for this request; later rules override earlier ones. */
	take(call: MatchedRequest): FaultPlan;
}

export const maxFaultRules = 1000;

export function createFaultRules(): FaultRules {
	let rules: { rule: FaultRule; plan: FaultPlan; random: SeededRandom }[] = [];
	return {
		add({ count, seed, ...rule }) {
			rules = [...rules, { rule: { ...rule, remaining: count }, plan: readFaultNames(rule.fault), random: createSeededRandom(seed) }];
			rules = rules.slice(-maxFaultRules);
		},
		list: () => rules.map(({ rule }) => rule),
		clear() {
			rules = [];
		},
		take(call) {
			const taken: FaultPlan = {};
			for (const entry of rules) {
				const { rule } = entry;
				if (rule.remaining === 0 || !matchesRequest(rule, call) || entry.random.next() >= rule.rate) continue;
				if (rule.remaining !== null) entry.rule = { ...rule, remaining: rule.remaining - 1 };
				Object.assign(taken, entry.plan);
			}
			return taken;
		},
	};
}
