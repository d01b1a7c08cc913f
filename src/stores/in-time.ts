import type { CallDeadlines } from './call-deadlines.ts';
import type { AdmissionStore } from './contracts/admission.ts';

/** The same store, whose operations fail with `CountersLate` when they take too long. */
export function inTime(store: AdmissionStore, deadlines: CallDeadlines): AdmissionStore {
	return {
		admit: (request) => deadlines.race(store.admit(request)),
		settle: (settlement) => deadlines.race(store.settle(settlement)),
		release: (id, team) => deadlines.race(store.release(id, team)),
		extend: (id, team, holds) => deadlines.race(store.extend(id, team, holds)),
		grow: (id, team, holds, holdMs) => deadlines.race(store.grow(id, team, holds, holdMs)),
		read: (team, budgets) => deadlines.race(store.read(team, budgets)),
		restore: (totals) => deadlines.race(store.restore(totals)),
		rehold: (team, calls) => deadlines.race(store.rehold(team, calls)),
		onReturn: (listener) => store.onReturn(listener),
		close: () => store.close(),
	};
}
