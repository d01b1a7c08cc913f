import type { z } from 'zod';
import type { AdminParts } from '../admin-parts.ts';
import type { ExplainedRequest } from '../admin-settings.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { explainWish, explanation } from '../schemas/explanation.ts';

export function explainOperations({ explain }: AdminParts): Operation[] {
	return [
		defineOperation({
			method: 'POST',
			path: '/explain',
			tag: 'explain',
			summary: 'What would become of a call',
			description:
				'Every decision about it, in order, up to the one that refuses it; what was not come to is null. No provider is called, and nothing is counted, held or written.',
			body: explainWish,
			success: { status: 200, schema: explanation },
			run: async ({ body: { format, body, body_text: bodyText, headers = {}, ...wish } }) => {
				const bytes = Buffer.from(bodyText ?? JSON.stringify(body));
				return { body: await explain({ of: whoOf(wish), format, body: bytes, headers }) };
			},
		}),
	];
}

function whoOf({
	client_id: clientId = '',
	team,
	access_token: accessToken,
}: Pick<z.output<typeof explainWish>, 'client_id' | 'team' | 'access_token'>): ExplainedRequest['of'] {
	if (team !== undefined) return { team };
	return accessToken === undefined ? { clientId } : { accessToken };
}
