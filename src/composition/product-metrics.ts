import type { KeySet } from '../io/key-set.ts';
import { measureEventLoop } from '../io/process-metrics.ts';
import type { World } from './part.ts';

/** Told of each time that the configuration was read again, and whether it came into force. */
export type NoteReload = (isInForce: boolean) => void;

/** Figures of the whole process. */
export function measureProduct({ metrics, clock }: World, version: string, keySet: KeySet): NoteReload {
	measureEventLoop(metrics);
	const build = [{ labels: { version, node: process.version }, value: 1 }];
	metrics.gauge('tollgate_build_info', 'Always 1; its labels say what runs.', () => build, ['version', 'node']);
	metrics.gauge('tollgate_key_set_keys', 'Keys of the issuer by which access tokens can be judged.', () => keySet.state().keyCount);
	metrics.total('tollgate_key_set_fetches_total', 'Times that the issuer was asked for its keys.', () => keySet.state().fetches);
	metrics.total('tollgate_key_set_failures_total', 'Times that the issuer did not give its keys.', () => keySet.state().failures);
	const reloads = metrics.counter('tollgate_config_reloads_total', 'Readings of a changed configuration, by whether it came into force.', [
		'result',
	]);
	const [taken, refused] = [reloads.of({ result: 'ok' }), reloads.of({ result: 'rejected' })];
	let lastGoodMs = clock.nowMs();
	metrics.gauge(
		'tollgate_config_last_success_timestamp_seconds',
		'Unix time at which the configuration was last read and good.',
		() => lastGoodMs / 1000,
	);
	return (isInForce) => {
		(isInForce ? taken : refused).add();
		if (isInForce) lastGoodMs = clock.nowMs();
	};
}
