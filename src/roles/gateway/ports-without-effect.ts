import { silentLog } from '../../core/log.ts';
import { noMetrics } from '../../core/metrics.ts';
import type { GatewayPorts } from './gateway-settings.ts';
import { TrafficResolver } from './traffic-resolver.ts';
import { UnpricedModels } from './unpriced-models.ts';

/** Returns ports for stages that run without an effect. A port that is used nevertheless throws instead of having one. */
export function portsWithoutEffect({
	teams,
	verifier,
	reasoningEncryption,
	clock,
}: Pick<GatewayPorts, 'teams' | 'clock'> & Partial<Pick<GatewayPorts, 'verifier' | 'reasoningEncryption'>>): GatewayPorts {
	const reject = (): never => {
		throw new Error('an explanation or a replay has no effect');
	};
	return {
		upstream: reject,
		verifier: verifier ?? { verify: reject },
		teams,
		admission: {
			admit: reject,
			settle: reject,
			release: reject,
			extend: reject,
			grow: reject,
			read: reject,
			restore: reject,
			restoreReservations: reject,
			onReturn: reject,
			close: reject,
		},
		ledger: { open: reject, close: reject, assess: reject },
		responseOwners: { note: reject, find: reject, forget: reject, sweep: reject },
		unpriced: new UnpricedModels(),
		traffic: new TrafficResolver({ clock, log: silentLog, metrics: noMetrics, chance: () => 0 }),
		clock,
		log: silentLog,
		readiness: reject,
		reasoningEncryption: reasoningEncryption ?? reject,
	};
}
