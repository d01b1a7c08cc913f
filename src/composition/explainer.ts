/** Explains to an operator how a request would be handled, with the settings, records and counters of this process. */
import type { Config } from '../config/schema.ts';
import type { ExplainedModerationProvider } from '../roles/gateway/explain-guardrails.ts';
import { createExplainer, type ExplainPorts, type RequestExplainer } from '../roles/gateway/explain-request.ts';
import { rebuildOnChange } from './rebuild-on-change.ts';
import { gatewaySettings } from './settings.ts';

export function reconfigurableExplainer(
	config: Config,
	ports: ExplainPorts,
): { explain: RequestExplainer; prepare(config: Config): () => void } {
	const explainer = rebuildOnChange(
		config,
		(next) => ({ settings: gatewaySettings(next), moderationProviders: explainedModerationProviders(next) }),
		({ settings, moderationProviders }) => createExplainer(settings, { ...ports, moderationProviders }),
	);
	return { explain: (request) => explainer.current(request), prepare: explainer.prepare };
}

export function explainedModerationProviders({ guardrails }: Config): ExplainedModerationProvider[] {
	return guardrails.moderation_providers.map(({ name, action }) => ({ name, action }));
}
