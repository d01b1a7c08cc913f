/** Figures of the process, the same for every registry in it: what observes them, observes for ever. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Metrics } from '../core/metrics.ts';

const msPerHour = 3_600_000;

let registry: Registry | undefined;

/** Memory, CPU, handles and garbage collector, under the names that all Node.js programs use. */
export function processMetrics(): Registry {
	if (registry === undefined) {
		registry = new Registry();
		// Of the event loop's delay they count the pause between two looks, so that a loop without any has one of 10 ms. Their looks cannot be
		// left out, but made rare.
		collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: msPerHour });
		for (const { name } of registry.getMetricsAsArray()) if (name.startsWith('nodejs_eventloop_lag_')) registry.removeSingleMetric(name);
	}
	return registry;
}

const pauseMs = 20;

let delays: ReturnType<typeof monitorEventLoopDelay> | undefined;

/** Declares how late the event loop was since the last scrape. */
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
