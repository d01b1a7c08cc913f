/**
 * Settings that are understood but not yet obeyed. What would be unsafe to ignore is refused; the rest is named in a
 * warning at start. A feature that becomes real deletes its line here.
 */
import type { Finding } from './cross-checks.ts';
import type { Config } from './schema.ts';

/** Settings that this version must not pretend to obey. */
export function refusedSettings(config: Config): Finding[] {
	const findings: Finding[] = [];
	if (config.enforce_guardrails) findings.push([['enforce_guardrails'], 'guardrails cannot be enforced by this version']);
	return findings;
}

/** One sentence for each setting that has no effect in this version; for a warning at start. */
export function settingsWithoutEffect(config: Config): string[] {
	const sentences: [isSet: boolean, sentence: string][] = [
		[config.enable_guardrails, 'enable_guardrails, guardrails: guardrails are not evaluated by this version'],
		[config.gateway.workers > 1, 'gateway.workers: this version runs one worker'],
		[Object.keys(config.edge.firewall.rules).length > 0, 'edge.firewall.rules: firewall rules are not applied by this version'],
	];
	return sentences.filter(([isSet]) => isSet).map(([, sentence]) => sentence);
}
