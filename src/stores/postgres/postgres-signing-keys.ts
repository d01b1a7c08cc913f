import type { SigningKeyStore } from '../contracts/records.ts';
import { signingKeyOf } from '../record-shapes.ts';
import type { RecordsDatabase } from './records-database.ts';

export function createPostgresSigningKeys({ read, write }: RecordsDatabase): SigningKeyStore {
	return {
		list: () => read(async (db) => (await db.selectFrom('signing_keys').selectAll().orderBy('sequence').execute()).map(signingKeyOf)),
		rotate: (key, expectedNewestKid, retire) =>
			write(async ({ db, nextVersion }) => {
				const newest = await db.selectFrom('signing_keys').select('kid').orderBy('sequence', 'desc').limit(1).executeTakeFirst();
				if ((newest?.kid ?? null) !== expectedNewestKid) return false;
				nextVersion();
				for (const { kid, retiredAtMs } of retire) {
					await db.updateTable('signing_keys').set({ retired_at_ms: retiredAtMs }).where('kid', '=', kid).execute();
				}
				const { kid, privateJwk, createdAtMs, activeFromMs, retiredAtMs } = key;
				const times = { created_at_ms: createdAtMs, active_from_ms: activeFromMs, retired_at_ms: retiredAtMs };
				await db
					.insertInto('signing_keys')
					.values({ kid, private_jwk: privateJwk, ...times })
					.execute();
				return true;
			}),
		prune: (nowMs) =>
			write(async ({ db, nextVersion }) => {
				const { numDeletedRows } = await db.deleteFrom('signing_keys').where('retired_at_ms', '<', BigInt(nowMs)).executeTakeFirstOrThrow();
				if (numDeletedRows > 0n) nextVersion();
			}),
		replacePrivateJwks: (changes) =>
			write(async ({ db }) => {
				for (const { kid, from, to } of changes) {
					await db.updateTable('signing_keys').set({ private_jwk: to }).where('kid', '=', kid).where('private_jwk', '=', from).execute();
				}
			}),
	};
}
