import { z } from 'zod';
import type { RoutingRule } from '../../../core/routing-rule.ts';
import type { Team } from '../../../core/team.ts';
import {
	type AuditEntry,
	auditActions,
	auditKinds,
	type Budget,
	type ClientRecord,
	type PriceOverride,
} from '../../../stores/contracts/records.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { limitOf, pageOf, pageQuery, withCursor } from '../page.ts';
import { budgetRecordBody } from '../schemas/budget.ts';
import { clientBody } from '../schemas/client.ts';
import { overrideBody } from '../schemas/price.ts';
import { routingRuleBody } from '../schemas/routing-rule.ts';
import { teamBody } from '../schemas/team.ts';
import { named, time, timeOf } from '../schemas/values.ts';

const record = z.record(z.string(), z.unknown()).nullable();

const auditEntry = named(
	'AuditEntry',
	z.strictObject({
		time,
		actor: z.string().describe('Such as `client:console` or `cli`.'),
		request_id: z.string().nullable(),
		action: z.enum(auditActions),
		kind: z.enum(auditKinds),
		key: z.string().describe('Id of the record; `provider/model` for a price.'),
		before: record.describe('Record before the change; null for a creation.'),
		after: record.describe('Record after the change; null for a deletion.'),
	}),
);

const auditList = named('AuditList', pageOf(auditEntry));

export function auditOperations({ records, clock }: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'GET',
			path: '/audit',
			access: { needs: 'read', team: 'denied' },
			tag: 'audit',
			summary: 'List changes, newest first',
			query: z.strictObject({ ...pageQuery, kind: z.enum(auditKinds).optional(), key: z.string().optional() }),
			success: { status: 200, schema: auditList },
			run: async ({ query }) => {
				const { kind, key, cursor } = query;
				const requested = { limit: limitOf(query), ...(kind && { kind }), ...(key !== undefined && { key }), ...(cursor && { cursor }) };
				const { entries, nextCursor } = await withCursor(() => records.audit.list(requested));
				return { body: { data: entries.map((entry) => entryBody(entry, clock.nowMs())), next_cursor: nextCursor } };
			},
		}),
	];
}

function entryBody(entry: AuditEntry, nowMs: number): z.output<typeof auditEntry> {
	const { atMs, actor, requestId, action, kind, key, before, after } = entry;
	const rendered = (text: string | null) => (text === null ? null : recordBody(kind, text, nowMs));
	return { time: timeOf(atMs), actor, request_id: requestId, action, kind, key, before: rendered(before), after: rendered(after) };
}

/** Parses the record. One from an earlier version can lack members and is then returned as it was stored. */
function recordBody(kind: AuditEntry['kind'], text: string, nowMs: number): Readonly<Record<string, unknown>> {
	const written = JSON.parse(text) as Record<string, unknown>;
	try {
		return renderers[kind](written, nowMs);
	} catch {
		return written;
	}
}

type Written = Readonly<Record<string, unknown>>;

const renderers: Readonly<Record<AuditEntry['kind'], (written: Written, nowMs: number) => Record<string, unknown>>> = {
	team(written) {
		const { origin: _, ...rendered } = teamBody(written as unknown as Team, false);
		return rendered;
	},
	client(written, nowMs) {
		const withoutSecrets = { ...(written as unknown as ClientRecord), secrets: [] };
		const { origin: _origin, secrets: _secrets, team: _team, ...rendered } = clientBody(withoutSecrets, undefined, nowMs);
		return rendered;
	},
	budget: (written) => budgetRecordBody({ ...written, limitNanoUsd: amountOf(written, 'limitNanoUsd') } as unknown as Budget),
	routing_rule: (written) => routingRuleBody(written as unknown as RoutingRule),
	price_override(written) {
		const {
			long_input: _longInput,
			priced_as: _pricedAs,
			source: _source,
			...rendered
		} = overrideBody({
			...written,
			inputPicoUsd: amountOf(written, 'inputPicoUsd'),
			outputPicoUsd: amountOf(written, 'outputPicoUsd'),
			cacheReadPicoUsd: amountOf(written, 'cacheReadPicoUsd'),
			cacheWritePicoUsd: amountOf(written, 'cacheWritePicoUsd'),
		} as unknown as PriceOverride);
		return rendered;
	},
};

function amountOf(written: Written, name: string): bigint {
	return BigInt(String(written[name]));
}
