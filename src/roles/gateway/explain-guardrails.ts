import type { AssessedAction, RuleAction } from '../../policy/guardrails/guardrail.ts';
import { ruleOfEngine } from '../../policy/guardrails/verdicts.ts';
import type { Guarding } from './guardrail-runner.ts';
import type { EngineSettings } from './moderation/moderation-settings.ts';
import { requireSingleMembers, withMasks } from './stages/evaluate-input.ts';
import type { InferenceRequest } from './stages/read-inference-request.ts';

/** A moderation provider, which explanations list but do not request. */
export type ExplainedEngine = Pick<EngineSettings, 'name' | 'action'>;

/** Guardrail findings in a request, without its text. */
export interface ExplainedGuardrails {
	readonly state: 'off' | 'clean' | 'matched' | 'masked' | 'not_evaluated';
	/** False if findings have no consequence. */
	readonly enforced: boolean;
	readonly findings: readonly {
		readonly policy: string;
		readonly category: string;
		readonly action: AssessedAction;
		readonly rule: RuleAction;
		readonly count: number;
	}[];
	/** Types of content that guardrails cannot read. */
	readonly unreadable: readonly string[];
	/** Moderation providers that a real request would also use. */
	readonly moderation_providers: readonly { readonly name: string; readonly rule: RuleAction }[];
}

export const guardrailsOff: ExplainedGuardrails = { state: 'off', enforced: false, findings: [], unreadable: [], moderation_providers: [] };

export interface ScreenedRequest {
	readonly guardrails: ExplainedGuardrails;
	/** @returns the request with masked text replaced. @throws `Rejection` `guardrail_blocked`. */
	pass(): InferenceRequest;
}

/** Screens like `screenInput`, but reports nothing. @throws `Rejection` `field_invalid` for a repeated member. */
export async function screenExplained(
	inferenceRequest: InferenceRequest,
	team: string,
	guarding: Guarding,
	engines: readonly ExplainedEngine[],
): Promise<ScreenedRequest> {
	if (guarding.isEnforced) await requireSingleMembers(inferenceRequest);
	const view = inferenceRequest.format.textViews.request(inferenceRequest.body.members);
	const { screening } = await guarding.look({ requestId: inferenceRequest.request.id, team }, 'input', view);
	const guardrails = await guarding.guardrails;
	const { findings, isBlocked } = screening;
	const groups = Map.groupBy(findings, ({ policy, category, action }) => `${policy} ${category} ${action}`);
	const explained = [...groups.values()].flatMap((some) =>
		some.slice(0, 1).map(({ policy, category, action }) => {
			return { policy, category, action, rule: guardrails.ruleOf(policy, category, team), count: some.length };
		}),
	);
	const isMasked = !isBlocked && findings.some(({ action }) => action === 'MASK');
	const unreadable = [...new Set(view.unreadable.map(({ type }) => type))];
	const found = isMasked ? 'masked' : 'matched';
	return {
		guardrails: {
			state: findings.length > 0 ? found : unreadable.length > 0 ? 'not_evaluated' : 'clean',
			enforced: guarding.isEnforced,
			findings: explained,
			unreadable,
			moderation_providers: engines
				.map((engine) => ({ name: engine.name, rule: ruleOfEngine(engine, guardrails.settings.teams[team]) }))
				.filter(({ rule }) => rule !== 'none'),
		},
		pass() {
			guarding.requirePassing('input', findings, view);
			return guarding.isEnforced ? withMasks(inferenceRequest, view, screening) : inferenceRequest;
		},
	};
}
