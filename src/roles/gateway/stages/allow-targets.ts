import type { Denial } from '../../../core/allow-lists.ts';
import type { Team } from '../../../core/team.ts';
import { AllowListRejection, type Judgement } from '../../../policy/routing/allow-lists.ts';
import type { Target, Targets } from '../../../policy/routing/target.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { RequestRecorder } from '../request-scope/request-recorder.ts';

/** Judges one target by the lists of the team. @param requested model name as sent by the client. @returns undefined without lists. */
export function judgeTarget(requested: string, target: Target, team: Team, deps: JudgeDeps): Judgement | undefined {
	const lists = deps.allowLists.of(team);
	return lists?.judge({
		requested,
		isOwnName: deps.routing.isOwnName(requested, target),
		provider: target.provider,
		model: target.model,
		knownAs: deps.modelCapabilities.of(target).knownAs,
	});
}

type JudgeDeps = Pick<GatewayDeps, 'allowLists' | 'routing' | 'modelCapabilities'>;

/** Returns true if the team may use the target. Monitored lists do not count. */
export function isAllowed(requested: string, target: Target, team: Team, deps: JudgeDeps): boolean {
	return judgeTarget(requested, target, team, deps)?.enforced === undefined;
}

/**
 * Removes the targets that the team may not use.
 * @param recorder of a request that is about to be sent; it records and counts the decisions.
 * @throws AllowListRejection if none remains.
 */
export function allowTargets(requested: string, targets: Targets, team: Team, deps: GatewayDeps, recorder?: RequestRecorder): Targets {
	if (deps.allowLists.of(team) === undefined) return targets;
	const judged = targets.map((target) => ({ target, ...judgeTarget(requested, target, team, deps) }));
	const [first, ...others] = judged.filter(({ enforced }) => enforced === undefined);
	if (first === undefined) {
		const denial = judged[0]?.enforced;
		if (denial === undefined) throw new Error('routing named no target');
		count(denial, 'rejected', deps);
		throw new AllowListRejection(requested, team.id, denial);
	}
	const allowed = [first, ...others];
	if (recorder !== undefined) {
		for (const { enforced } of judged) if (enforced !== undefined) count(enforced, 'skipped', deps);
		noteMonitored(allowed, recorder, deps);
	}
	return [first.target, ...others.map(({ target }) => target)];
}

function noteMonitored(allowed: readonly Partial<Judgement>[], recorder: RequestRecorder, deps: GatewayDeps): void {
	const denials = allowed.flatMap(({ monitored }) => monitored ?? []);
	const [first] = denials;
	if (first === undefined) return;
	if (denials.length < allowed.length) {
		for (const denial of denials) count(denial, 'skipped', deps);
		return;
	}
	count(first, 'rejected', deps);
	recorder.monitor('model_not_allowed');
	recorder.deny(first);
}

function count({ list, mode }: Denial, result: 'rejected' | 'skipped', { allowListDecisions }: GatewayDeps): void {
	allowListDecisions.add(1, { list, mode, result });
}
