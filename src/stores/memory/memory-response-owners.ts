import type { Clock } from '../../core/clock.ts';
import type { ResponseOwner, ResponseOwners } from '../contracts/response-owners.ts';

/** Owners in this process, lost with it. */
export function createMemoryResponseOwners({ clock }: { readonly clock: Pick<Clock, 'nowMs'> }): ResponseOwners {
	/** In order of the first note. */
	const owners = new Map<string, ResponseOwner>();
	const find = (id: string): ResponseOwner | undefined => {
		const owner = owners.get(id);
		return owner !== undefined && owner.expiresAtMs > clock.nowMs() ? owner : undefined;
	};
	return {
		async note(ids, owner) {
			for (const id of ids) {
				const known = find(id);
				if (known === undefined || known.team === owner.team) owners.set(id, owner);
			}
		},
		async find(ids) {
			return new Map(
				ids.flatMap((id) => {
					const owner = find(id);
					return owner === undefined ? [] : [[id, owner]];
				}),
			);
		},
		forget: async (id) => void owners.delete(id),
		async sweep(maxIds) {
			for (const [id, { expiresAtMs }] of owners) if (expiresAtMs <= clock.nowMs()) owners.delete(id);
			const surplus = owners.size - maxIds;
			for (const id of [...owners.keys()].slice(0, Math.max(0, surplus))) owners.delete(id);
		},
	};
}
