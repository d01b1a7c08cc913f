import { z } from 'zod';
import { Rejection } from '../../../core/rejection.ts';
import type { AdminDeps } from '../admin-deps.ts';
import type { ExplainedRequest } from '../admin-settings.ts';
import { explainRecorded, recordedExplanation } from '../explain-record.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { explainInput, explanation } from '../schemas/explanation.ts';
import { type Authority, missingRecord, reaches, requireReach } from '../team-access.ts';
import { readRequest } from './requests.ts';

export function explainOperations(deps: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'POST',
			path: '/explain',
			access: { needs: 'read', team: 'filtered' },
			tag: 'explain',
			summary: 'Explain a request',
			description:
				'Returns every decision in order, up to the rejection; decisions after it are null. Does not call a provider, count, reserve or write.',
			body: explainInput,
			success: { status: 200, schema: explanation },
			run: async ({ body: { format, body, body_text: bodyText, headers = {}, ...input }, authority }) => {
				await requireOwnSender(input, authority, deps);
				const bytes = Buffer.from(bodyText ?? JSON.stringify(body));
				const explained = await deps.explain({ of: await senderOf(input, deps), format, body: bytes, headers });
				requireOwnTeam(explained, authority);
				return { body: explained };
			},
		}),
		defineOperation({
			method: 'GET',
			path: '/explain/{request_id}',
			access: { needs: 'read', team: { record: 'request', param: 'request_id' } },
			tag: 'explain',
			summary: 'Explain a recorded request',
			description: 'Says in one sentence why the request ended as it did, then lists the decisions with the numbers of that moment.',
			params: z.strictObject({ request_id: z.string() }),
			success: { status: 200, schema: recordedExplanation },
			rejections: ['record_unknown'],
			run: async ({ params: { request_id: id } }) => {
				const request = await readRequest(id, deps);
				const { assessments } = await deps.ledger.listAssessments({ requestId: id, limit: maxAssessments });
				return { body: explainRecorded(request, assessments.toReversed()) };
			},
		}),
	];
}

const maxAssessments = 100;

type Sender = Pick<z.output<typeof explainInput>, 'client_id' | 'team' | 'access_token'>;

/** @throws `Rejection` `record_unknown` for a sender that is not of the requester's teams. */
async function requireOwnSender({ client_id: clientId, team }: Sender, authority: Authority, { teamLookup }: AdminDeps): Promise<void> {
	if (authority.teams === 'all') return;
	if (team !== undefined) requireReach(authority, team);
	if (clientId === undefined) return;
	const owner = (await teamLookup.teamsByClient()).get(clientId);
	if (!reaches(authority, owner)) throw new Rejection('record_unknown', { message: missingRecord.client(clientId) });
}

/**
 * Rejects explanations of other teams' access tokens. A token that is rejected before its team is known belongs to none.
 * @throws `Rejection` `record_unknown`.
 */
function requireOwnTeam(explained: object, authority: Authority): void {
	if (authority.teams === 'all') return;
	const { identity = null, team = null } = explained as { identity?: object | null; team?: { readonly id: string } | null };
	if (team === null && identity === null) return;
	if (!reaches(authority, team?.id)) {
		throw new Rejection('record_unknown', { message: 'The client of the access token is not in the team' });
	}
}

async function senderOf(
	{ client_id: clientId = '', team, access_token: accessToken }: Sender,
	{ records, configured }: Pick<AdminDeps, 'records' | 'configured'>,
): Promise<ExplainedRequest['of']> {
	if (team !== undefined) return { team };
	if (accessToken !== undefined) return { accessToken };
	const client = configured().configClients.find(({ id }) => id === clientId) ?? (await records.clients.get(clientId));
	return { clientId, scopeNames: client?.scopes };
}
