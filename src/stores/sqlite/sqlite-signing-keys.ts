import type { DatabaseSync } from 'node:sqlite';
import type { SigningKeyStore } from '../contracts/records.ts';
import { signingKeyOf } from '../record-shapes.ts';
import { textOf } from '../row.ts';
import type { Write } from './database.ts';
import { read } from './database.ts';

export function createSqliteSigningKeys(database: DatabaseSync, write: Write): SigningKeyStore {
	const selectAll = database.prepare('SELECT * FROM signing_keys ORDER BY sequence');
	const selectNewest = database.prepare('SELECT kid FROM signing_keys ORDER BY sequence DESC LIMIT 1');
	const insert = database.prepare(
		'INSERT INTO signing_keys (kid, private_jwk, created_at_ms, active_from_ms, retired_at_ms) VALUES (?, ?, ?, ?, ?)',
	);
	const retireKey = database.prepare('UPDATE signing_keys SET retired_at_ms = ? WHERE kid = ?');
	const replaceJwk = database.prepare('UPDATE signing_keys SET private_jwk = ? WHERE kid = ? AND private_jwk = ?');
	const deleteRetired = database.prepare('DELETE FROM signing_keys WHERE retired_at_ms < ?');
	return {
		list: () => read(() => selectAll.all().map(signingKeyOf)),
		rotate: (key, expectedNewestKid, retire) =>
			write(() => {
				const newest = selectNewest.get();
				if ((newest === undefined ? null : textOf(newest, 'kid')) !== expectedNewestKid) return false;
				for (const end of retire) retireKey.run(end.retiredAtMs, end.kid);
				insert.run(key.kid, key.privateJwk, key.createdAtMs, key.activeFromMs, key.retiredAtMs);
				return true;
			}),
		prune: async (nowMs) => {
			await write(() => deleteRetired.run(nowMs));
		},
		replacePrivateJwks: async (changes) => {
			await write(() => {
				for (const { kid, from, to } of changes) replaceJwk.run(to, kid, from);
			});
			// Otherwise the former text would stay in free pages of the file, and in the write-ahead log.
			await read(() => database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)'));
		},
	};
}
