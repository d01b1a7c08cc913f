import type { KeySets } from '../io/key-sets.ts';
import { measureEventLoop } from '../io/process-metrics.ts';
import type { AppContext } from './app-context.ts';

/** Called after each reload of the configuration, with whether it is in force. */
export type NoteReload = (isInForce: boolean) => void;

/** Metrics of the whole process. */
export function measureProduct({ metrics, clock }: AppContext, version: string, keySets: KeySets): NoteReload {
	measureEventLoop(metrics);
	const build = [{ labels: { version, node: process.version }, value: 1 }];
	metrics.gauge('tollgate_build_info', 'Always 1; the labels name the running version.', () => build, ['version', 'node']);
	metrics.gauge('tollgate_key_set_keys', 'Usable keys in the key sets of all issuers.', () => keySets.state().keyCount);
	metrics.total('tollgate_key_set_fetches_total', 'Fetches of the issuers’ key sets.', () => keySets.state().fetches);
	metrics.total('tollgate_key_set_failures_total', 'Failed fetches of the issuers’ key sets.', () => keySets.state().failures);
	const reloads = metrics.counter('tollgate_config_reloads_total', 'Configuration reloads by result: `ok` or `rejected`.', ['result']);
	const [taken, rejected] = [reloads.of({ result: 'ok' }), reloads.of({ result: 'rejected' })];
	let lastGoodMs = clock.nowMs();
	metrics.gauge(
		'tollgate_config_last_success_timestamp_seconds',
		'Unix time of the last successful configuration load.',
		() => lastGoodMs / 1000,
	);
	return (isInForce) => {
		(isInForce ? taken : rejected).add();
		if (isInForce) lastGoodMs = clock.nowMs();
	};
}
