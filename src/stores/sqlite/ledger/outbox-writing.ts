import type { DatabaseSync } from 'node:sqlite';
import type { SpoolProgress } from '../../contracts/ledger-spool.ts';
import { integerOf } from '../database.ts';
import { packCallId } from './packed-call-id.ts';

export interface OutboxWriting {
	/** Inside the caller's transaction. */
	forget(done: SpoolProgress): void;
	/** Whether it is short enough to compare rows with. */
	isShort(): boolean;
}

const longestForComparing = 10_000;

export function createOutboxWriting(database: DatabaseSync): OutboxWriting {
	const deleteThrough = database.prepare('DELETE FROM outbox WHERE position <= ?');
	const keep = database.prepare('UPDATE calls SET is_spooled = NULL WHERE id = ?');
	const measure = database.prepare('SELECT coalesce(max(position) - min(position), 0) AS length FROM outbox');
	return {
		forget({ through, refusedIds }) {
			for (const id of refusedIds) keep.run(packCallId(id));
			deleteThrough.run(through);
		},
		isShort: () => integerOf(measure.get() ?? {}, 'length') < longestForComparing,
	};
}
