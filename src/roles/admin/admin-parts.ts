import type { AdminPorts } from './admin-settings.ts';
import type { BudgetMeter } from './budget-meter.ts';
import type { TeamLookup } from './team-lookup.ts';
import type { TakeTurn } from './turns.ts';

/** What the resources share. */
export interface AdminParts extends Omit<AdminPorts, 'verifier' | 'metrics'> {
	readonly teamLookup: TeamLookup;
	readonly budgetMeter: BudgetMeter;
	/** Every change of a record is made in a turn. */
	readonly takeTurn: TakeTurn;
}
