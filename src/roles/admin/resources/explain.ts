import { z } from 'zod';
import type { AdminDeps } from '../admin-deps.ts';
import type { ExplainedRequest } from '../admin-settings.ts';
import { explainRecorded, recordedExplanation } from '../explain-record.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { explainInput, explanation } from '../schemas/explanation.ts';
import { readRequest } from './requests.ts';

export function explainOperations(deps: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'POST',
			path: '/explain',
			tag: 'explain',
			summary: 'Explain a request',
			description:
				'Returns every decision in order, up to the rejection; decisions after it are null. Does not call a provider, count, reserve or write.',
			body: explainInput,
			success: { status: 200, schema: explanation },
			run: async ({ body: { format, body, body_text: bodyText, headers = {}, ...input } }) => {
				const bytes = Buffer.from(bodyText ?? JSON.stringify(body));
				return { body: await deps.explain({ of: await senderOf(input, deps), format, body: bytes, headers }) };
			},
		}),
		defineOperation({
			method: 'GET',
			path: '/explain/{request_id}',
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

async function senderOf(
	{ client_id: clientId = '', team, access_token: accessToken }: Pick<z.output<typeof explainInput>, 'client_id' | 'team' | 'access_token'>,
	{ records, configured }: Pick<AdminDeps, 'records' | 'configured'>,
): Promise<ExplainedRequest['of']> {
	if (team !== undefined) return { team };
	if (accessToken !== undefined) return { accessToken };
	const client = configured().configClients.find(({ id }) => id === clientId) ?? (await records.clients.get(clientId));
	return { clientId, scopeNames: client?.scopes };
}
