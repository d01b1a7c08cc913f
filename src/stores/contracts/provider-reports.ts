/** What processes that serve calls tell of their providers, for admin APIs in other processes. Nobody is told of changes. */
import type { ProviderReport } from '../../core/health-report.ts';

export interface ProviderReports {
	/** Takes the place of what `process` told before. It is forgotten after `lifeMs`, by the clock of the store. */
	tell(process: string, report: ProviderReport, lifeMs: number): Promise<void>;
	forget(process: string): Promise<void>;
	/** By process, of all that are remembered. */
	read(): Promise<ReadonlyMap<string, ProviderReport>>;
}
