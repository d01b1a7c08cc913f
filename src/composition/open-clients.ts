import { createClientOperations } from '../cli/admin/client-operations.ts';
import type { AdminOptions, ClientOperations, ConfigOptions } from '../cli/environment.ts';
import type { Environment } from '../config/defaults.ts';
import { loadConfig } from '../config/load.ts';
import { silentLog } from '../core/log.ts';
import { systemClock } from '../io/system-clock.ts';
import { openAdmin } from './open-admin.ts';
import { type MigratedSchema, migrateStores } from './open-stores.ts';

export async function openClients(options: AdminOptions, env: Environment): Promise<ClientOperations> {
	return createClientOperations(await openAdmin(options, env));
}

/** @throws StoreUnusable. */
export function migrate({ configPath }: ConfigOptions): Promise<readonly MigratedSchema[]> {
	return migrateStores(loadConfig({ configPath }).config, { clock: systemClock, log: silentLog });
}
