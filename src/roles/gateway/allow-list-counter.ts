import type { Counter, Metrics } from '../../core/metrics.ts';

/** Counts decisions of lists of models and providers. */
export function allowListCounter(metrics: Metrics): Counter {
	return metrics.counter(
		'tollgate_allow_list_decisions_total',
		'Decisions of lists of models and providers: requests rejected, and targets skipped while another remained. `monitor`: not enforced.',
		['list', 'mode', 'result'],
	);
}
