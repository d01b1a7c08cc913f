import { Fault } from '../../../core/fault.ts';
import { Refusal } from '../../../core/refusal.ts';
import type { Team } from '../../../core/team.ts';
import type { Target } from '../../../policy/routing/target.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { inTurns } from '../in-turns.ts';
import type { OpenCall } from '../open-calls.ts';
import type { Permit } from '../permit.ts';
import { admitCall } from './admit-call.ts';
import { isFirstChoice } from './choose-targets.ts';
import { type PreparedCall, passOn, preparingSteps } from './prepare-call.ts';
import type { Call } from './read-call.ts';

/** A call that may go to its target. */
export interface Taken {
	readonly prepared: PreparedCall;
	readonly permit: Permit;
}

/**
 * Makes the call fit for a target, and asks whether the target may have it: each is judged as if it were the only one.
 * @param before whose target was called before, and failed.
 * @returns undefined when this target cannot be had while there was one before, or will be one after.
 * @throws as `preparingSteps` and `admitCall` do.
 */
export function takeTarget(
	call: Call,
	target: Target,
	team: Team,
	before: Permit | undefined,
	isLast: boolean,
	open: OpenCall,
	parts: GatewayParts,
): Taken | undefined | Promise<Taken | undefined> {
	const { facts } = open;
	const { provider, model, warnings } = facts;
	facts.provider = target.provider;
	facts.model = target.model;
	facts.warnings = undefined;
	const admit = (prepared: PreparedCall): Taken | Promise<Taken> => {
		open.requireRunning();
		const permit = admitCall(prepared, team, open, parts, before);
		return permit instanceof Promise ? permit.then((later) => ({ prepared, permit: later })) : { prepared, permit };
	};
	const passOver = (cause: unknown): undefined => {
		open.requireRunning();
		if (!maySkip(cause, before !== undefined, isLast, () => isFirstChoice(call, target, team.id, parts))) throw cause;
		parts.ports.log.warn('target passed over', {
			requestId: call.request.id,
			provider: target.provider,
			model: target.model,
			code: cause.code,
			message: cause.message,
		});
		Object.assign(facts, { provider, model, warnings });
	};
	try {
		const prepared =
			passOn(call, target, team.id, parts) ?? inTurns(call.body.bytes.length, preparingSteps(call, target, team.id, facts, parts));
		const taken = prepared instanceof Promise ? prepared.then(admit) : admit(prepared);
		return taken instanceof Promise ? taken.catch(passOver) : taken;
	} catch (cause) {
		return passOver(cause);
	}
}

/**
 * A refusal of the first choice is the caller's answer; one of a later target leaves the failure of the one before, and one of a target
 * that only stands in for an ejected one leaves the call to those after it.
 */
export function maySkip(cause: unknown, hasBefore: boolean, isLast: boolean, isFirst: () => boolean): cause is Refusal | Fault {
	if (cause instanceof Fault) return cause.code === 'provider_key_unset' && (hasBefore || !isLast);
	return cause instanceof Refusal && (hasBefore || (!isLast && !isFirst()));
}
