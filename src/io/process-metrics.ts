/** Metrics of the process, shared by every registry in it, because an observer never stops observing. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Metrics } from '../core/metrics.ts';

const msPerHour = 3_600_000;

let registry: Registry | undefined;

/** Memory, CPU, handles and garbage collector, under the usual names of Node.js programs. */
export function processMetrics(): Registry {
	if (registry === undefined) {
		registry = new Registry();
		// prom-client's event loop delay includes the sampling interval, so an idle loop shows 10 ms. The sampling cannot be disabled, only
		// made rare.
		collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: msPerHour });
		for (const { name } of registry.getMetricsAsArray()) if (name.startsWith('nodejs_eventloop_lag_')) registry.removeSingleMetric(name);
	}
	return registry;
}

const pauseMs = 20;

let delays: ReturnType<typeof monitorEventLoopDelay> | undefined;

/** Declares the event loop delay since the last scrape. */
export function measureEventLoop(metrics: Metrics): void {
	delays ??= monitorEventLoopDelay({ resolution: pauseMs });
	const histogram = delays;
	histogram.enable();
	const read = (): { labels: { stat: string }; value: number }[] => {
		const seconds = { p50: histogram.percentile(50), p99: histogram.percentile(99), max: histogram.max };
		histogram.reset();
		return Object.entries(seconds).map(([stat, ns]) => ({ labels: { stat }, value: Math.max(0, ns / 1e9 - pauseMs / 1000) }));
	};
	metrics.gauge('tollgate_event_loop_delay_seconds', 'Event loop delay since the last scrape: median, 99th percentile and maximum.', read, [
		'stat',
	]);
}
