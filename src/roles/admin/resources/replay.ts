import type { AdminDeps } from '../admin-deps.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { replayInput, replayResult } from '../schemas/replay.ts';

export function replayOperations({ replay }: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'POST',
			path: '/replay',
			access: { needs: 'read', team: 'denied' },
			tag: 'explain',
			summary: 'Replay recorded requests under a changed configuration',
			description:
				'Decides each recorded request again, with the code that enforces limits, budgets, lists of models and routes, and counts the differences. Guardrail results count as recorded. Writes nothing. One replay runs at a time, with at most 1,000,000 requests.',
			body: replayInput,
			success: { status: 200, schema: replayResult },
			rejections: ['replay_running', 'replay_too_large'],
			run: async ({ body: { config_patch: configPatch, from, to } }) => ({
				body: await replay({ configPatch, fromMs: Date.parse(from), toMs: Date.parse(to) }),
			}),
		}),
	];
}
