import type { PolicyMode } from '../../core/policy-mode.ts';
import type { AssessedAction, RuleAction } from '../../policy/guardrails/guardrail.ts';
import { ruleOfModeration } from '../../policy/guardrails/verdicts.ts';
import type { GuardrailRunner } from './guardrail-runner.ts';
import type { ModerationProviderSettings } from './moderation/moderation-settings.ts';
import { requireSingleMembers, withMasks } from './stages/evaluate-input.ts';
import type { InferenceRequest } from './stages/read-inference-request.ts';

/** A moderation provider, which explanations list but do not request. */
export type ExplainedModerationProvider = Pick<ModerationProviderSettings, 'name' | 'action'>;

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
		readonly mode: PolicyMode;
		readonly count: number;
	}[];
	/** Types of content that guardrails cannot read. */
	readonly unreadable: readonly string[];
	/** Moderation providers that a real request would also use. */
	readonly moderation_providers: readonly { readonly name: string; readonly rule: RuleAction; readonly mode: PolicyMode }[];
}

export const guardrailsOff: ExplainedGuardrails = { state: 'off', enforced: false, findings: [], unreadable: [], moderation_providers: [] };

export interface EvaluatedRequest {
	readonly guardrails: ExplainedGuardrails;
	/** @returns the request with masked text replaced. @throws `Rejection` `guardrail_blocked`. */
	pass(): InferenceRequest;
}

/** Screens like `evaluateInput`, but reports nothing. @throws `Rejection` `field_invalid` for a repeated member. */
export async function evaluateExplained(
	inferenceRequest: InferenceRequest,
	team: string,
	guardrailRunner: GuardrailRunner,
	moderationProviders: readonly ExplainedModerationProvider[],
): Promise<EvaluatedRequest> {
	if (guardrailRunner.isEnforced(team)) await requireSingleMembers(inferenceRequest);
	const view = inferenceRequest.format.textViews.request(inferenceRequest.body.members);
	const { evaluation } = await guardrailRunner.evaluate({ requestId: inferenceRequest.request.id, team }, 'input', view);
	const guardrails = await guardrailRunner.guardrails;
	const { findings, isBlocked } = evaluation;
	const { isEnforced, monitored } = guardrails.settings;
	const modeOf = (rule: string): PolicyMode => (isEnforced && !monitored.includes(rule) ? 'enforce' : 'monitor');
	const groups = Map.groupBy(findings, ({ policy, category, action, monitored: effect }) => `${policy} ${category} ${action} ${effect}`);
	const explained = [...groups.values()].flatMap((some) =>
		some.slice(0, 1).map(({ policy, category, action }) => {
			const mode = modeOf(`${policy}.${category}`);
			return { policy, category, action, rule: guardrails.ruleOf(policy, category, team), mode, count: some.length };
		}),
	);
	const isMasked = !isBlocked && findings.some(({ action }) => action === 'MASK');
	const unreadable = [...new Set(view.unreadable.map(({ type }) => type))];
	const found = isMasked ? 'masked' : 'matched';
	return {
		guardrails: {
			state: findings.length > 0 ? found : unreadable.length > 0 ? 'not_evaluated' : 'clean',
			enforced: guardrailRunner.isEnforced(team),
			findings: explained,
			unreadable,
			moderation_providers: moderationProviders
				.map((moderationProvider) => ({
					name: moderationProvider.name,
					rule: ruleOfModeration(moderationProvider, guardrails.settings.teams[team]),
					mode: modeOf(`moderation.${moderationProvider.name}`),
				}))
				.filter(({ rule }) => rule !== 'none'),
		},
		pass() {
			guardrailRunner.requirePassing('input', findings, view);
			return guardrailRunner.isEnforced(team) ? withMasks(inferenceRequest, view, evaluation) : inferenceRequest;
		},
	};
}
