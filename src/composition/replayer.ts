/** Replays recorded requests under a changed configuration, from the stores of the running one. Nothing is written. */
import { patchConfig } from '../config/patch-config.ts';
import { ConfigError } from '../config/problem.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { yieldToEventLoop } from '../core/cooperative-task.ts';
import { silentLog } from '../core/log.ts';
import { Rejection } from '../core/rejection.ts';
import type { ReplayRequest } from '../roles/admin/admin-settings.ts';
import { FieldsRejection } from '../roles/admin/fields-rejection.ts';
import type { ReplayResult } from '../roles/gateway/replay/replay-report.ts';
import { type ReplayBounds, runReplay } from '../roles/gateway/replay/run-replay.ts';
import type { LedgerReader } from '../stores/contracts/ledger.ts';
import type { RecordStore } from '../stores/contracts/records.ts';
import type { RequestRecordReader } from '../stores/contracts/request-records.ts';
import { createMemoryAdmission } from '../stores/memory/memory-admission.ts';
import { openRecordsSnapshot } from '../stores/records-snapshot.ts';
import { sumUpFrom } from './accounting.ts';
import { listModels } from './listed-models.ts';
import { configuredTeams, gatewaySettings } from './settings.ts';

export interface ReplayStores {
	readonly records: RecordStore;
	readonly ledger: Pick<LedgerReader, 'readTeam'>;
	readonly requestRecords: Pick<RequestRecordReader, 'scan'>;
	readonly clock: Clock;
}

/** Bounds in a process that serves requests. */
export const servingBounds: ReplayBounds = { maxRequests: 1_000_000, maxMs: 120_000 };

/** Returns a function that runs one replay at a time. @throws Rejection `replay_running`, by the function. */
export function createReplayer(
	configOf: () => Config,
	stores: ReplayStores,
	bounds?: ReplayBounds,
): (request: ReplayRequest) => Promise<ReplayResult> {
	let isRunning = false;
	return async (request) => {
		if (isRunning) throw new Rejection('replay_running');
		isRunning = true;
		try {
			const config = patched(configOf(), request);
			// Validation takes milliseconds, and so do the first steps of a replay.
			await yieldToEventLoop();
			return await replay(config, request, stores, bounds);
		} finally {
			isRunning = false;
		}
	};
}

/** @throws FieldsRejection */
function patched(config: Config, { configPatch }: ReplayRequest): Config {
	try {
		return patchConfig(config, configPatch);
	} catch (cause) {
		if (!(cause instanceof ConfigError)) throw cause;
		const errors = cause.problems.map(({ path, message }) => ({ path: path === '' ? 'config_patch' : `config_patch.${path}`, message }));
		throw new FieldsRejection('fields_invalid', errors);
	}
}

async function replay(
	config: Config,
	{ fromMs, toMs }: ReplayRequest,
	{ records, ledger, requestRecords, clock }: ReplayStores,
	bounds: ReplayBounds | undefined,
): Promise<ReplayResult> {
	// Changes of records during the replay would give it two policies.
	const unchanging = { ...records, onChange: () => () => undefined };
	const teams = await openRecordsSnapshot(unchanging, configuredTeams(config), { clock, log: silentLog });
	try {
		return await runReplay(
			gatewaySettings(config),
			{ fromMs, toMs },
			{
				teams,
				records: requestRecords,
				createAdmission: (replayed) => createMemoryAdmission({ clock: replayed, idleMs: Number.MAX_SAFE_INTEGER }),
				createSumUp: (untilMs, replayed) => sumUpFrom(ledger, teams, { clock: replayed, listing: () => listModels(config), untilMs }),
				clock,
			},
			bounds,
		);
	} finally {
		teams.close();
	}
}
