/**
 * Settings that are understood but not yet obeyed, named in a warning at start. A feature that becomes real deletes its line here.
 */
import type { Config } from './schema.ts';

/** One sentence for each setting that has no effect in this version; for a warning at start. */
export function settingsWithoutEffect(config: Config): string[] {
	const sentences: [isSet: boolean, sentence: string][] = [
		[
			config.enforce_guardrails && config.guardrails.engines.length > 0,
			'guardrails.engines: under enforcement, answers that are streamed are not judged by engines in this version',
		],
	];
	return sentences.filter(([isSet]) => isSet).map(([, sentence]) => sentence);
}
