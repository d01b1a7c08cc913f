import { Rejection } from '../../../core/rejection.ts';
import type { Team } from '../../../core/team.ts';
import type { Target } from '../../../policy/routing/target.ts';
import type { ResponseOwner } from '../../../stores/contracts/response-owners.ts';
import { canBeStoredId, type StateReference } from '../../../wire/dialects/state.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { isTranslated } from './choose-targets.ts';
import { requireSingleMembers } from './evaluate-input.ts';
import type { InferenceRequest } from './read-inference-request.ts';

/** Longer conversations are sent without the ids of their items. */
const maxIds = 5000;

/**
 * Returns the target that stores what a request refers to; undefined if it refers to nothing. All teams share the provider's account, so each
 * id must be the team's own.
 * @throws `Rejection` `response_not_found`, `field_invalid`, `model_not_allowed`; `UpstreamError` `records_unavailable`.
 */
export function findStored(inferenceRequest: InferenceRequest, team: Team, deps: GatewayDeps): Promise<Target | undefined> | undefined {
	const { format, body, stateMode } = inferenceRequest;
	if (stateMode === 'off' || format.state === undefined) return undefined;
	const references = format.state.references(body.members);
	return references.length === 0 ? undefined : findTarget(inferenceRequest, references, team, deps);
}

async function findTarget(
	inferenceRequest: InferenceRequest,
	references: readonly StateReference[],
	team: Team,
	deps: GatewayDeps,
): Promise<Target | undefined> {
	const stored = references.find(({ isStored }) => isStored);
	const { state } = inferenceRequest.format;
	// Another model would continue unnoticed, and ids of translated responses are stored nowhere.
	if (state !== undefined && stored !== undefined && isTranslated(inferenceRequest, team, deps)) throw state.rejectReference(stored);
	// The provider may read the other one of two ids.
	await requireSingleMembers(inferenceRequest);
	const ids = [...new Set(references.map(({ id }) => id))].filter(canBeStoredId);
	if (ids.length > maxIds) {
		const message = `\`input\` has items with ${ids.length} ids, more than ${maxIds}: send the items without \`id\``;
		throw new Rejection('field_invalid', { param: 'input', message });
	}
	const owners = await deps.ports.responseOwners.find(ids);
	let first: ResponseOwner | undefined;
	for (const { id, param, isStored } of references) {
		const owner = owners.get(id);
		if (owner === undefined ? isStored : owner.team !== team.id) throw responseNotFound(id, param);
		if (!isStored || owner === undefined) continue;
		first ??= owner;
		if (owner.provider === first.provider) continue;
		const message = `\`${param}\` is stored at another provider than the ids before it: send the whole conversation in \`input\``;
		throw new Rejection('field_invalid', { param, message });
	}
	return first === undefined ? undefined : storedTarget(first, references[0], deps);
}

/** @throws `Rejection` `response_not_found` if the target is not configured any more. */
function storedTarget(owner: ResponseOwner, reference: StateReference | undefined, { routing }: GatewayDeps): Target {
	const target = routing.targetOf(owner);
	if (target === undefined) throw responseNotFound(reference?.id ?? '', reference?.param ?? 'input');
	return target;
}

const maxShownLength = 64;

/** Is the same for unknown ids and those of other teams. */
export function responseNotFound(id: string, param: string): Rejection {
	return new Rejection('response_not_found', {
		param,
		message: `\`${param}\` names \`${id.slice(0, maxShownLength)}\`, which is not stored for this team: it is unknown, deleted or expired`,
	});
}
