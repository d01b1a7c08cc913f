import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { otherModel, type ReportedModels } from '../policy/limits/reported-models.ts';
import { periodOf } from '../policy/limits/utc-time.ts';
import { configuredModelsOf } from '../roles/gateway/gateway-deps.ts';
import type { LedgerReader } from '../stores/contracts/ledger.ts';
import { listModels } from './listed-models.ts';
import { gatewaySettings } from './settings.ts';

/**
 * Restores the month's unlisted models from the ledger. Otherwise each team could report its full number of them again after a restart.
 * @throws UpstreamError `records_unavailable`.
 */
export async function restoreReportedModels(
	ledger: Pick<LedgerReader, 'summarize'>,
	reported: Pick<ReportedModels, 'restore'>,
	{ config, clock }: { readonly config: Config; readonly clock: Clock },
): Promise<void> {
	const nowMs = clock.nowMs();
	const month = periodOf(nowMs);
	const fromMs = Date.parse(`${month}-01T00:00:00Z`);
	const rows = await ledger.summarize({ fromMs, toMs: nowMs + 1, period: 'all', by: ['team', 'provider', 'model'] });
	const listedAs = listModels(config);
	const configured = configuredModelsOf(gatewaySettings(config));
	for (const { team, provider, model } of rows) {
		const isKnown = model === otherModel || listedAs({ provider, model }) === model || configured.has(`${provider}/${model}`);
		if (!isKnown) reported.restore(team, month, { provider, model });
	}
}
