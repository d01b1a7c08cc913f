import type { SigningKeyRecord, SigningKeyStore } from '../../src/stores/contracts/records.ts';

export function createMemorySigningKeys(changed: () => void): SigningKeyStore {
	let keys: SigningKeyRecord[] = [];
	return {
		async list() {
			return structuredClone(keys);
		},
		async rotate(key, expectedNewestKid, retire) {
			if ((keys.at(-1)?.kid ?? null) !== expectedNewestKid) return false;
			const ends = new Map(retire.map((end) => [end.kid, end.retiredAtMs]));
			keys = [...keys.map((old) => ({ ...old, retiredAtMs: ends.get(old.kid) ?? old.retiredAtMs })), structuredClone(key)];
			changed();
			return true;
		},
		async prune(nowMs) {
			const retained = keys.filter((key) => key.retiredAtMs === null || key.retiredAtMs >= nowMs);
			if (retained.length === keys.length) return;
			keys = retained;
			changed();
		},
		async replacePrivateJwks(changes) {
			keys = keys.map((key) => {
				const change = changes.find(({ kid, from }) => kid === key.kid && from === key.privateJwk);
				return change === undefined ? key : { ...key, privateJwk: change.to };
			});
		},
	};
}
