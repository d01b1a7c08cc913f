/** Lists of records, cached until any change, so that a page of a thousand teams does not read them all again. */
import type { Stored, VersionedStore } from '../../stores/contracts/records.ts';
import type { AdminPorts } from './admin-settings.ts';

type Records = AdminPorts['records'];

export interface KnownLists {
	/**
	 * The given records with cached lists. Changes by other processes appear in lists within a second; single records are always read from
	 * the store.
	 */
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
