/** Explains a recorded request: why it ended as it did, with the numbers of that moment. */
import { z } from 'zod';
import { rejections } from '../../core/rejection.ts';
import { upstreamErrors } from '../../core/upstream-error.ts';
import type { Assessment } from '../../stores/contracts/assessments.ts';
import type { RequestBody } from './schemas/request.ts';
import { named } from './schemas/values.ts';

const decision = named(
	'Decision',
	z.strictObject({
		step: z.enum(['client', 'request', 'guardrails', 'allow_lists', 'limits', 'monitor', 'target', 'response', 'cost']),
		result: z.string().describe('Such as `passed`, `rejected`, or a status.'),
		detail: z.string(),
	}),
);

export const recordedExplanation = named(
	'RecordedExplanation',
	z.strictObject({
		summary: z.string().describe('One sentence.'),
		decisions: z.array(decision).describe('Decisions in order, with the numbers of that moment.'),
		request: z.string().describe('Id of the request.'),
	}),
);

type Decision = z.output<typeof decision>;
type Attempt = RequestBody['targets'][number];

export function explainRecorded(request: RequestBody, assessments: readonly Assessment[]): z.output<typeof recordedExplanation> {
	return { summary: summaryOf(request, assessments), decisions: decisionsOf(request, assessments), request: request.id };
}

function summaryOf(request: RequestBody, assessments: readonly Assessment[]): string {
	const { status, code, limit, targets } = request;
	const last = targets.at(-1);
	if (code === 'interrupted') {
		return `The gateway stopped before the response was complete, and the request was charged its reservation of $${request.cost_usd}.`;
	}
	if (code === 'client_closed') {
		return `The client disconnected after ${request.duration_ms} ms, before the response was complete${costClause(request)}.`;
	}
	if (limit !== null) return `Rejected with ${status} ${code}: ${limitText(limit)}.`;
	const blocked = assessments.find(({ action }) => action === 'BLOCK');
	if (code === 'guardrail_blocked' && blocked !== undefined) {
		return `Blocked with ${status} by the guardrail ${blocked.policy} (${blocked.category}) on the ${blocked.stage}.`;
	}
	if (code === 'model_not_allowed' && request.allow_list !== null) {
		return `Rejected with ${status} ${code}: \`${request.allow_list}\` does not allow ${request.model_requested ?? 'the model'}.`;
	}
	if (code !== null && Object.hasOwn(rejections, code)) return `Rejected with ${status} ${code}: ${titleOf(code)}.`;
	if (code !== null) {
		const tried = targets.length === 0 ? 'no target was tried' : targets.map(attemptText).join(', then ');
		return `Failed with ${status} ${code}: ${tried}.`;
	}
	if (last === undefined) return `Served with ${status} by the gateway, without a provider.`;
	const failed = targets.slice(0, -1);
	const after = failed.length === 0 ? '' : ` after ${failed.map(attemptText).join(', then ')}`;
	if (status >= 400) return `Failed with ${status}: ${targets.map(attemptText).join(', then ')}.`;
	return `Served by ${last.provider}/${last.model} with ${status} in ${request.duration_ms} ms${after}${costClause(request)}.`;
}

function decisionsOf(request: RequestBody, assessments: readonly Assessment[]): Decision[] {
	const { team_id: team, client_id: client, code, limit, targets, usage, cost_usd: cost, monitored_route: route } = request;
	const decisions: Decision[] = [
		{
			step: 'client',
			result: team === null ? 'rejected' : 'identified',
			detail: team === null ? `Client ${client} is in no team` : `Client ${client} of team ${team}`,
		},
	];
	if (request.model_requested !== null) {
		const what = request.stream ? 'a stream' : 'a response';
		decisions.push({
			step: 'request',
			result: 'read',
			detail: `${request.endpoint} requested ${what} from ${request.model_requested}; body of ${request.request_bytes} bytes`,
		});
	}
	for (const { stage, policy, category, action, outcome, count } of assessments) {
		const match = policy === '' ? `The ${stage} has no match` : `${policy} (${category}) on the ${stage}, ${count} found, action ${action}`;
		decisions.push({ step: 'guardrails', result: outcome, detail: match });
	}
	if (request.allow_list !== null) {
		const result = code === 'model_not_allowed' ? 'rejected' : 'monitored';
		decisions.push({
			step: 'allow_lists',
			result,
			detail: `\`${request.allow_list}\` does not allow ${request.model_requested ?? 'the model'}`,
		});
	}
	if (limit !== null) decisions.push({ step: 'limits', result: 'rejected', detail: limitText(limit) });
	else if (targets.length > 0) decisions.push({ step: 'limits', result: 'passed', detail: 'Within all limits and budgets' });
	for (const monitored of request.monitored) {
		decisions.push({ step: 'monitor', result: monitored, detail: monitoredText(monitored) });
	}
	if (route !== null) {
		decisions.push({ step: 'monitor', result: route.target, detail: `First target of the monitored routing rule ${route.rule}` });
	}
	for (const attempt of targets) {
		decisions.push({ step: 'target', result: String(attempt.status ?? attempt.code), detail: attemptText(attempt) });
	}
	const reason = code === null ? '' : `, ${code}: ${titleOf(code)}`;
	decisions.push({
		step: 'response',
		result: String(request.status),
		detail: `${request.response_bytes} bytes in ${request.duration_ms} ms${reason}`,
	});
	if (usage !== null && cost !== null) {
		const notes = [...(request.estimated ? ['estimated'] : []), ...(request.priced ? [] : ['the model has no price'])];
		const note = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
		decisions.push({
			step: 'cost',
			result: `$${cost}`,
			detail: `${usage.input} input, ${usage.cache_read} cache read, ${usage.cache_write} cache write, ${usage.output} output tokens${note}`,
		});
	}
	return decisions;
}

function monitoredText(code: string): string {
	if (code === 'route_changed') return 'Enforcement would have sent the request to another target first';
	if (code === 'guardrail_masked') return 'Enforcement would have masked text';
	return 'Enforcement would have rejected the request';
}

const limitNames: Readonly<Record<NonNullable<RequestBody['limit']>['kind'], string>> = {
	requests_per_minute: 'requests per minute',
	daily_tokens: 'tokens per day',
	tokens_per_minute: 'tokens per minute',
	concurrent_requests: 'concurrent requests',
	budget: 'the budget',
	model_budget: 'the budget of the model',
};

function limitText({ kind, limit, used, reserved, resets_at: resetsAt }: NonNullable<RequestBody['limit']>): string {
	const shown = (amount: number | string): string => (typeof amount === 'string' ? `$${amount}` : String(amount));
	const reset = resetsAt === null ? '' : `; resets at ${resetsAt}`;
	return `${limitNames[kind]} at ${shown(used)} used and ${shown(reserved)} reserved of ${shown(limit)}${reset}`;
}

function attemptText({ provider, model, status, code, ms }: Attempt): string {
	return `${provider}/${model} ${status === null ? `failed with ${code}` : `returned ${status}`} after ${ms} ms`;
}

function costClause({ cost_usd: cost, estimated }: RequestBody): string {
	return cost === null ? '' : `, at a cost of $${cost}${estimated ? ' (estimated)' : ''}`;
}

function titleOf(code: string): string {
	const found = Object.entries({ ...rejections, ...upstreamErrors }).find(([name]) => name === code);
	return found?.[1].title ?? 'internal error';
}
