import type { Clock } from '../../src/core/clock.ts';
import { type AdmissionStore, CountersUnreachable, type MaybePromise } from '../../src/stores/contracts/admission.ts';
import { createMemoryAdmission } from '../../src/stores/memory/memory-admission.ts';

/** Fate of an operation: `drop` never reaches the counters, `mute` does but its response is lost, `refuse` fails at once. */
export type Fate = 'serve' | 'drop' | 'mute' | 'refuse';

/** Counters in memory behind a link that fails as the test sets it. */
export interface UnreliableCounters extends AdmissionStore {
	fate: () => Fate;
	/** Counters without the link. */
	readonly direct: AdmissionStore;
	/** Empties the counters, like a server restarted without its data. @param isNoticed true if connections break. */
	empty(isNoticed: boolean): void;
	isClosed: boolean;
}

export function createUnreliableCounters(clock: Clock): UnreliableCounters {
	let memory = createMemoryAdmission({ clock });
	const listeners: (() => void)[] = [];
	const pass = <T>(operation: (store: AdmissionStore) => MaybePromise<T>): Promise<T> => {
		const fate = counters.fate();
		if (fate === 'refuse') return Promise.reject(new CountersUnreachable('refused'));
		if (fate === 'serve') return Promise.resolve(operation(memory));
		if (fate === 'mute') void Promise.resolve(operation(memory)).catch(() => undefined);
		return new Promise(() => undefined);
	};
	const counters: UnreliableCounters = {
		fate: () => 'serve',
		isClosed: false,
		get direct() {
			return memory;
		},
		empty(isNoticed) {
			memory = createMemoryAdmission({ clock });
			if (isNoticed) for (const listener of listeners) listener();
		},
		admit: (request) => pass((store) => store.admit(request)),
		settle: (settlement) => pass((store) => store.settle(settlement)),
		release: (id, team) => pass((store) => store.release(id, team)),
		extend: (id, team, holds) => pass((store) => store.extend(id, team, holds)),
		grow: (id, team, holds, reservationMs) => pass((store) => store.grow(id, team, holds, reservationMs)),
		read: (team, budgets) => pass((store) => store.read(team, budgets)),
		restore: (totals) => pass((store) => store.restore(totals)),
		restoreReservations: (team, calls) => pass((store) => store.restoreReservations(team, calls)),
		onReturn: (listener) => void listeners.push(listener),
		close: async () => void (counters.isClosed = true),
	};
	return counters;
}
