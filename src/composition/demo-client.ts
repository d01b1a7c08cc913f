import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { derive, isHashOf, parseSecretHash } from '../stores/contracts/client-secret.ts';
import { createClientsAdministration } from '../stores/contracts/clients-administration.ts';
import type { ClientRecord, RecordStore } from '../stores/contracts/records.ts';

/** The demo client's secret in a private file of the data directory. Each start prints it, and `tollgate token --demo` uses it. */

const fileName = 'demo-secret';

/** @returns undefined if none is stored. */
export function readDemoSecret(dataDir: string): string | undefined {
	try {
		return /^[\w-]{32,}$/.exec(readFileSync(join(dataDir, fileName), 'utf8').trim())?.[0];
	} catch {
		return undefined;
	}
}

export function keepDemoSecret(dataDir: string, secret: string): void {
	mkdirSync(dataDir, { recursive: true, mode: 0o700 });
	const file = join(dataDir, fileName);
	const draft = `${file}.new`;
	// An existing file would keep its mode.
	rmSync(draft, { force: true });
	writeFileSync(draft, `${secret}\n`, { mode: 0o600, flag: 'wx' });
	renameSync(draft, file);
}

export const demoClientId = 'demo';
const demoTeamId = 'demo-team';

export interface DemoClient {
	readonly id: string;
	/** Undefined if the client's secret differs from the stored one. */
	readonly secret: string | undefined;
}

/** Creates the team and client of the demo, at the first start on a data directory. */
export async function ensureDemoClient(
	records: Pick<RecordStore, 'clients' | 'teams'>,
	clock: Clock,
	dataDir: string,
): Promise<DemoClient> {
	const secret = await ensureSecret(records, clock, dataDir);
	await records.teams.create({ id: demoTeamId, name: 'Demo team', tier: 'premium', clientIds: [demoClientId] });
	return { id: demoClientId, secret };
}

async function ensureSecret(records: Pick<RecordStore, 'clients'>, clock: Clock, dataDir: string): Promise<string | undefined> {
	const before = await records.clients.get(demoClientId);
	const retained = readDemoSecret(dataDir);
	if (before !== undefined) return retained !== undefined && (await hasSecret(before, retained, clock.nowMs())) ? retained : undefined;
	// Stored before the client is created, so that a process that ends in between loses no secret.
	const secret = retained ?? randomBytes(32).toString('base64url');
	keepDemoSecret(dataDir, secret);
	const clients = createClientsAdministration({ clients: records.clients, clock });
	await clients.createClient({ id: demoClientId, name: 'Demo client', scopes: ['invoke', 'admin'], secret });
	return secret;
}

async function hasSecret({ secrets }: ClientRecord, secret: string, nowMs: number): Promise<boolean> {
	for (const { hash: encoded, expiresAtMs } of secrets) {
		const known = parseSecretHash(encoded);
		if (known === undefined || (expiresAtMs !== null && expiresAtMs <= nowMs)) continue;
		if (isHashOf(known.hash, secret, await derive(secret, known.derivation))) return true;
	}
	return false;
}
