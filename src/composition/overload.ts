/** Load shedding of one data plane process. */
import type { Config } from '../config/schema.ts';
import { watchProcessLoad } from '../io/process-load.ts';
import { LoadShedder, type ShedReason } from '../policy/overload/load-shedder.ts';
import type { AppContext } from './app-context.ts';
import { rebuildOnChange } from './rebuild-on-change.ts';
import { overloadSettings } from './settings.ts';

export interface Overload {
	/** Returns the reason to shed one more request; undefined to accept it. */
	judge(): ShedReason | undefined;
	/** As in `Part`. */
	prepare(config: Config): () => void;
	/** As in `Part`. */
	noteListening(): void;
	stop(): void;
}

/** @param inFlight number of requests whose response is incomplete, including the one to decide on. */
export function watchOverload({ config, clock, log, metrics }: AppContext, inFlight: () => number): Overload {
	const shedder = rebuildOnChange(config, overloadSettings, (settings) => new LoadShedder(settings));
	const shed = metrics.counter('tollgate_requests_shed_total', 'Requests rejected by load shedding.', ['reason']);
	metrics.gauge('tollgate_shed_ratio', 'Share of new requests rejected because of event loop delay.', () => shedder.current.share);
	const { noteListening, stop } = watchProcessLoad(clock, (load) => {
		const before = shedder.current.share;
		shedder.current.observe(load);
		const after = shedder.current.share;
		if (before === 0 && after > 0) log.warn('load shedding started', { loop_delay_ms: Math.round(load.loopDelayMs) });
		if (before > 0 && after === 0) log.info('load shedding ended');
	});
	let tickStartMs: number | undefined;
	/** Milliseconds since the first request of this turn of the event loop. */
	const tickMs = (): number => {
		if (tickStartMs !== undefined) return clock.monotonicMs() - tickStartMs;
		tickStartMs = clock.monotonicMs();
		setImmediate(() => (tickStartMs = undefined));
		return 0;
	};
	return {
		judge() {
			const reason = shedder.current.judge(inFlight() - 1, Math.random(), shedder.current.share === 0 ? 0 : tickMs());
			if (reason !== undefined) shed.add(1, { reason });
			return reason;
		},
		prepare: shedder.prepare,
		noteListening,
		stop,
	};
}
