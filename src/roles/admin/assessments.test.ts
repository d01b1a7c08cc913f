import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AdminSubject, adminStartMs, startAdmin } from '../../../test/support/admin.ts';
import { recordedRequest } from '../../../test/support/recorded-request.ts';
import type { Assessment } from '../../stores/contracts/assessments.ts';

let subject: AdminSubject;
beforeEach(async () => {
	subject = await startAdmin();
});
afterEach(() => subject.stop());

const found = (requestId: string, more: Partial<Assessment> = {}): Assessment => ({
	requestId,
	atMs: adminStartMs,
	team: 'red',
	stage: 'input',
	policy: 'pii',
	category: 'email',
	action: 'NONE',
	outcome: 'matched',
	count: 1,
	...more,
});
const nothing = { policy: '', category: '', outcome: 'clean' } as const;

describe('GET /guardrails/assessments', () => {
	const idsOf = async (query: string): Promise<string[]> => {
		const { status, body } = await subject.send('GET', `/guardrails/assessments?${query}`);
		expect(status).toBe(200);
		return (body['data'] as { request_id: string }[]).map((row) => row.request_id);
	};

	test('shows findings, newest first, and no text', async () => {
		subject.ledger.assess([
			found('one'),
			found('two', { stage: 'output', action: 'BLOCK', policy: 'moderation', category: 'judge.hate', count: 3 }),
		]);
		const { body } = await subject.send('GET', '/guardrails/assessments');
		const common = { time: '2026-11-21T12:00:05.000Z', team: 'red', outcome: 'matched' };
		expect(body).toEqual({
			data: [
				{ ...common, request_id: 'two', stage: 'output', policy: 'moderation', category: 'judge.hate', action: 'BLOCK', count: 3 },
				{ ...common, request_id: 'one', stage: 'input', policy: 'pii', category: 'email', action: 'NONE', count: 1 },
			],
			next_cursor: null,
		});
	});

	test('finds by each filter, and clean ones when asked for them', async () => {
		subject.ledger.assess([
			found('plain'),
			found('blue', { team: 'blue' }),
			found('output', { stage: 'output' }),
			found('words', { policy: 'words' }),
			found('phone', { category: 'phone' }),
			found('block', { action: 'BLOCK' }),
			found('failed', { outcome: 'failed' }),
			found('early', { atMs: adminStartMs - 86_400_000 }),
			found('clean', nothing),
		]);
		expect(await idsOf('')).toHaveLength(8);
		expect(await idsOf('request_id=plain')).toEqual(['plain']);
		expect(await idsOf('team=blue')).toEqual(['blue']);
		expect(await idsOf('stage=output')).toEqual(['output']);
		expect(await idsOf('policy=words')).toEqual(['words']);
		expect(await idsOf('category=phone')).toEqual(['phone']);
		expect(await idsOf('action=BLOCK')).toEqual(['block']);
		expect(await idsOf('outcome=failed')).toEqual(['failed']);
		expect(await idsOf('outcome=clean')).toEqual(['clean']);
		expect(await idsOf('to=2026-11-21')).toEqual(['early']);
		expect(await idsOf('from=2026-11-20T12:00:05.001Z&team=red')).not.toContain('early');
		const [clean] = (await subject.send('GET', '/guardrails/assessments?outcome=clean')).body['data'] as object[];
		expect(clean).toMatchObject({ policy: null, category: null, action: 'NONE' });
	});

	test('comes in pages', async () => {
		subject.ledger.assess(['1', '2', '3'].map((id) => found(id)));
		const first = await subject.send('GET', '/guardrails/assessments?limit=2');
		expect(await idsOf(`limit=2&cursor=${String(first.body['next_cursor'])}`)).toEqual(['1']);
		expect((await subject.send('GET', '/guardrails/assessments?cursor=zero')).status).toBe(422);
		expect((await subject.send('GET', '/guardrails/assessments?action=block')).status).toBe(422);
	});
});

describe('the entries of GET /requests', () => {
	test('show the guardrail outcome of the request', async () => {
		const { ledger } = subject;
		const both = (id: string, input: Partial<Assessment>, output?: Partial<Assessment>): void =>
			ledger.assess([found(id, input), ...(output === undefined ? [] : [found(id, { stage: 'output', ...output })])]);
		both('clean', nothing, nothing);
		both('unseen', nothing);
		both('matched', { outcome: 'matched' }, nothing);
		both('masked', { action: 'MASK', outcome: 'masked' }, nothing);
		both('failed', nothing, { policy: 'moderation', category: 'judge.failed', outcome: 'failed' });
		both('images', { policy: 'unreadable', category: 'image', outcome: 'not_evaluated' }, nothing);
		for (const id of ['off', 'clean', 'unseen', 'matched', 'masked', 'failed', 'images']) {
			subject.requestRecords.add({ ...recordedRequest(subject.clock.nowMs(), 1), id });
		}
		const { body } = await subject.send('GET', '/requests');
		const rows = body['data'] as { id: string; guardrails: string | null }[];
		expect(Object.fromEntries(rows.map((row) => [row.id, row.guardrails]))).toEqual({
			off: null,
			clean: 'clean',
			unseen: 'not_evaluated',
			matched: 'matched',
			masked: 'masked',
			failed: 'failed',
			images: 'not_evaluated',
		});
		const csv = await subject.send('GET', '/requests?limit=1', undefined, { accept: 'text/csv' });
		expect(csv.text).toMatch(/guardrails[^]*not_evaluated/);
	});
});
