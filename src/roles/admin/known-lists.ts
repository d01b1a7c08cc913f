/** Lists of records, read once and again after any change: nobody waits for a thousand teams to be read for each page of them. */
import type { Stored, VersionedStore } from '../../stores/contracts/records.ts';
import type { AdminPorts } from './admin-settings.ts';

type Records = AdminPorts['records'];

export interface KnownLists {
	/** As given. Another process's changes are in the lists within a second, like everywhere; single records are read anew each time. */
	readonly records: Records;
	close(): void;
}

export function keepLists(records: Records): KnownLists {
	const forgets: (() => void)[] = [];
	const keep = <Key, Value, Conflict extends string>(store: VersionedStore<Key, Value, Conflict>): VersionedStore<Key, Value, Conflict> => {
		let known: Promise<Stored<Value>[]> | undefined;
		forgets.push(() => {
			known = undefined;
		});
		return {
			...store,
			list() {
				if (known !== undefined) return known;
				const read = store.list();
				known = read;
				read.catch(() => {
					if (known === read) known = undefined;
				});
				return read;
			},
		};
	};
	return {
		records: {
			...records,
			teams: keep(records.teams),
			clients: keep(records.clients),
			budgets: keep(records.budgets),
			priceOverrides: keep(records.priceOverrides),
			routingRules: keep(records.routingRules),
		},
		close: records.onChange(() => {
			for (const forget of forgets) forget();
		}),
	};
}
