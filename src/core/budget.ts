/** Shared types of budgets: the requests that count, the windows, and the actions. */
import type { PolicyMode } from './policy-mode.ts';

export const budgetWindows = ['hour', 'day', 'week', 'month'] as const;
export type BudgetWindow = (typeof budgetWindows)[number];

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export type Weekday = (typeof weekdays)[number];

/** Settings that say when the window of a budget begins. */
export interface WindowSettings {
	readonly window: BudgetWindow;
	/** IANA time zone. Hours are those of UTC in every zone. */
	readonly timezone: string;
	/** First day of a week. */
	readonly weekStart: Weekday;
}

/** Requests of a team that count toward a budget. Null: all. */
export interface BudgetScope {
	/** Name or pattern. */
	readonly model: string | null;
	readonly client: string | null;
	readonly provider: string | null;
	/** An attribute of requests, as `name=value`. */
	readonly attribute: string | null;
}

export const exceededActions = ['reject', 'fallback_model', 'warn'] as const;
export type ExceededAction = (typeof exceededActions)[number];

/** A limit in place of the budget's own until a time. */
export interface BudgetRaise {
	readonly limitNanoUsd: bigint;
	/** Unix milliseconds, exclusive. */
	readonly untilMs: number;
}

/** A budget as it decides about requests. */
export interface BudgetPolicy extends BudgetScope, WindowSettings {
	/** Chosen by the operator, or random; of a tier: `tier-` and its name. */
	readonly id: string;
	readonly limitNanoUsd: bigint;
	readonly warningThresholdPercent: number;
	readonly hardLimitPercent: number;
	readonly whenExceeded: ExceededAction;
	/** Model that serves the requests that the budget would reject; set for `fallback_model`. */
	readonly fallbackModel: string | null;
	readonly raise: BudgetRaise | null;
	readonly mode: PolicyMode;
}

/** Returns the amount of a budget at a time: its own, or what it is raised to. */
export function amountAt({ limitNanoUsd, raise }: Pick<BudgetPolicy, 'limitNanoUsd' | 'raise'>, nowMs: number): bigint {
	return raise !== null && nowMs < raise.untilMs ? raise.limitNanoUsd : limitNanoUsd;
}

/** Defaults of everything but the amount: a budget for all requests in the UTC month. */
export const plainBudget = {
	model: null,
	client: null,
	provider: null,
	attribute: null,
	window: 'month',
	timezone: 'UTC',
	weekStart: 'monday',
	whenExceeded: 'reject',
	fallbackModel: null,
	raise: null,
	mode: 'enforce',
} as const satisfies Partial<BudgetPolicy>;
