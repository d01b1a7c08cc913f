/** Records that live as long as the process. Values are copied on the way in and out, so nobody shares them. */
import type { Team } from '../../core/team.ts';
import type { ClientRecord, ClientStore, RecordStore, SigningKeyRecord, SigningKeyStore, TeamStore } from '../contracts/records.ts';

type Changed = () => void;

export function createMemoryRecords(): RecordStore {
	const listeners = new Set<() => void>();
	const changed: Changed = () => {
		for (const listener of [...listeners]) listener();
	};
	const teams = new Map<string, Team>();
	return {
		clients: createClientStore(teams, changed),
		teams: createTeamStore(teams, changed),
		signingKeys: createSigningKeyStore(changed),
		onChange(listener) {
			const registered = (): void => listener();
			listeners.add(registered);
			return () => listeners.delete(registered);
		},
		async close() {
			listeners.clear();
		},
	};
}

function createClientStore(teams: Map<string, Team>, changed: Changed): ClientStore {
	const clients = new Map<string, ClientRecord>();
	return {
		async get(id) {
			return structuredClone(clients.get(id));
		},
		async list() {
			return structuredClone([...clients.values()].toSorted(byId));
		},
		async create(record) {
			if (clients.has(record.id)) return false;
			clients.set(record.id, structuredClone(record));
			changed();
			return true;
		},
		async replace(record) {
			if (!clients.has(record.id)) return false;
			clients.set(record.id, structuredClone(record));
			changed();
			return true;
		},
		async delete(id) {
			if (!clients.delete(id)) return false;
			for (const team of teams.values()) {
				if (team.clientIds.includes(id)) teams.set(team.id, { ...team, clientIds: team.clientIds.filter((other) => other !== id) });
			}
			changed();
			return true;
		},
	};
}

function createTeamStore(teams: Map<string, Team>, changed: Changed): TeamStore {
	const isClientTaken = (team: Team): boolean =>
		new Set(team.clientIds).size < team.clientIds.length ||
		[...teams.values()].some((other) => other.id !== team.id && other.clientIds.some((id) => team.clientIds.includes(id)));
	return {
		async get(id) {
			return structuredClone(teams.get(id));
		},
		async list() {
			return structuredClone([...teams.values()].toSorted(byId));
		},
		async create(team) {
			if (teams.has(team.id)) return 'id_taken';
			if (isClientTaken(team)) return 'client_taken';
			teams.set(team.id, structuredClone(team));
			changed();
			return 'created';
		},
		async replace(team) {
			if (!teams.has(team.id)) return 'unknown';
			if (isClientTaken(team)) return 'client_taken';
			teams.set(team.id, structuredClone(team));
			changed();
			return 'replaced';
		},
		async delete(id) {
			if (!teams.delete(id)) return false;
			changed();
			return true;
		},
	};
}

function createSigningKeyStore(changed: Changed): SigningKeyStore {
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
			const kept = keys.filter((key) => key.retiredAtMs === null || key.retiredAtMs >= nowMs);
			if (kept.length === keys.length) return;
			keys = kept;
			changed();
		},
	};
}

function byId(left: { id: string }, right: { id: string }): number {
	return left.id < right.id ? -1 : 1;
}
