import { z } from 'zod';
import {
	type Assessment,
	type AssessmentQuery,
	assessmentActions,
	assessmentOutcomes,
	assessmentStages,
} from '../../../stores/contracts/assessments.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { limitOf, pageOf, pageQuery, withCursor } from '../page.ts';
import { moment, msOf, named, time, timeOf } from '../schemas/values.ts';

const assessment = named(
	'Assessment',
	z.strictObject({
		time,
		request_id: z.string().describe('`x-request-id` of the response.'),
		team: z.string(),
		stage: z.enum(assessmentStages).describe('Request (`input`) or response (`output`).'),
		policy: z
			.string()
			.nullable()
			.describe(
				'`content`, `pii`, `topics`, `words`, `patterns`, `moderation`, or `unreadable` for content that was not evaluated; null: no match.',
			),
		category: z.string().nullable().describe('Category; `<moderation_provider>.<category>` for policy `moderation`; null: no match.'),
		action: z.enum(assessmentActions).describe('Action taken. `NONE` while guardrails are monitored and not enforced.'),
		outcome: z.enum(assessmentOutcomes).describe('Result; `failed`: a moderation provider could not evaluate the text.'),
		count: z.int().describe('Number of findings.'),
	}),
);

const assessmentList = named('AssessmentList', pageOf(assessment));

const filters = {
	request_id: z.string().optional(),
	team: z.string().optional(),
	stage: z.enum(assessmentStages).optional(),
	policy: z.string().optional(),
	category: z.string().optional(),
	action: z.enum(assessmentActions).optional(),
	outcome: z.enum(assessmentOutcomes).optional().describe('Default: all except `clean`.'),
	from: moment.optional().describe('Inclusive.'),
	to: moment.optional().describe('Exclusive.'),
};

export function assessmentOperations({ ledger }: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'GET',
			path: '/guardrails/assessments',
			access: { needs: 'read', team: { query: 'team' } },
			tag: 'guardrails',
			summary: 'List guardrail assessments, newest first',
			description: 'Retained as long as ledger entries. Includes requests that were blocked before admission.',
			query: z.strictObject({ ...pageQuery, ...filters }),
			success: { status: 200, schema: assessmentList },
			run: async ({ query: { request_id: requestId, from, to, limit, ...query } }) => {
				const given = Object.fromEntries(
					Object.entries({ ...query, requestId, fromMs: msOf(from), toMs: msOf(to) }).filter(([, value]) => value !== undefined),
				);
				const requested = { ...given, limit: limitOf({ limit }) } as AssessmentQuery;
				const { assessments, nextCursor } = await withCursor(() => ledger.listAssessments(requested));
				return { body: { data: assessments.map(assessmentBody), next_cursor: nextCursor } };
			},
		}),
	];
}

function assessmentBody({ atMs, requestId, policy, category, ...rest }: Assessment): z.output<typeof assessment> {
	const isClean = rest.outcome === 'clean';
	return { time: timeOf(atMs), request_id: requestId, policy: isClean ? null : policy, category: isClean ? null : category, ...rest };
}
