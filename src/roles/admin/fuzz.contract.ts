/** Bodies and queries generated from the OpenAPI document. `send` validates every response against the document. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AdminSubject, startAdmin } from '../../../test/support/admin.ts';
import { type AdminDocument, type AdminResponse, readAdminDocument } from '../../../test/support/admin-document.ts';
import { schemaBodies } from '../../../test/support/schema-bodies.ts';

const ids = ['red', 'blue', 'pinned', 'pinned-client', 'agent', 'a/b', 'absent'];
const likely = [...ids, 'sandbox', 'standard', '100.00', '0', '999999999.999999', 'gpt-4o-mini', 'local', 'provider_a', '2026-11-21'];

const hints = {
	texts: likely,
	members: {
		provider: ['local'],
		tier: ['sandbox', 'standard'],
		team: ['red', 'blue', 'pinned'],
		name: ['Red', 'a', '=x'],
		timezone: ['UTC', 'Europe/Berlin'],
		client: ['agent'],
		client_ids: Array.from({ length: 100 }, (_, index) => `agent-${index}`),
		providers: ['local', 'provider_a'],
		allow: ['*', 'local', 'provider_a'],
		deny: ['claude-*', 'gpt-3*'],
		limit_usd: ['100.00', '5'],
		attribute: ['project=search'],
		until: ['2999-01-01T00:00:00Z'],
	},
};

const pathOf = (path: string, values: readonly string[]) => {
	let index = 0;
	return path.replace(/\{\w+\}/g, () => encodeURIComponent(values[index++] ?? 'red'));
};

function withoutKeys(body: unknown): unknown {
	if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
	return Object.fromEntries(Object.entries(body).filter(([name, value]) => !['id', 'provider', 'model'].includes(name) || value === null));
}

/** Keeps one of several alternative fields for the client and for the request, because each request uses one. */
function withOneOfEach(input: unknown): unknown {
	if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
	const ways = [
		['client_id', 'team', 'access_token'],
		['body', 'body_text'],
	];
	const superfluous = ways.flatMap((names) => names.filter((name) => Object.hasOwn(input, name)).slice(1));
	return Object.fromEntries(Object.entries(input).filter(([name]) => !superfluous.includes(name)));
}

/** Removes most fields of a budget that contradict others, because a generated one rarely has none. */
function withoutContradictions(input: unknown): unknown {
	if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
	const { scope, period: _, week_start: __, fallback_model: ___, ...body } = input as Record<string, unknown>;
	const { team: ____, model: _____, ...rest } = typeof scope === 'object' && scope !== null ? (scope as Record<string, unknown>) : {};
	if (typeof body['hard_limit_percent'] === 'number') body['warning_threshold_percent'] = 1;
	return body['when_exceeded'] === 'fallback_model'
		? { ...body, fallback_model: 'gpt-4o-mini' }
		: { ...body, ...(scope === undefined ? {} : { scope: rest }) };
}

const asSent = (method: string, path: string, made: unknown): unknown => {
	if (path === '/explain') return withOneOfEach(made);
	if (path.startsWith('/budgets')) return withoutContradictions(method === 'PUT' ? withoutKeys(made) : made);
	// The body of a change may contain the record's key, but a generated one rarely equals that of the path.
	return method === 'PUT' ? withoutKeys(made) : made;
};

export interface FuzzPlan {
	/** Number of bodies for each operation with a body. */
	readonly bodies: number;
	/** Number of bodies for operations that hash a secret each time, which is slow. */
	readonly bodiesWithSecret: number;
	/** Number of queries for each operation that lists. */
	readonly queries: number;
	/** True: compares the whole content of the stores around each rejection. False: only checks whether they reported a change. */
	readonly comparesState: boolean;
}

/** Expects only documented responses, no internal errors, and no change by a rejected request. */
export function adminFuzz(plan: FuzzPlan): void {
	let subject: AdminSubject;
	let document: AdminDocument;
	let changes = 0;

	beforeAll(async () => {
		subject = await startAdmin();
		document = await readAdminDocument(subject.baseUrl);
		subject.records.onChange(() => changes++);
	});
	afterAll(() => subject.stop());

	const runsOf = (path: string) => (path.startsWith('/clients') && path !== '/clients/{id}' ? plan.bodiesWithSecret : plan.bodies);

	async function judge(send: () => Promise<AdminResponse>): Promise<AdminResponse> {
		const before = plan.comparesState ? await subject.state() : '';
		const changesBefore = changes;
		const response = await send();
		if (response.status >= 500) throw new Error(response.text);
		if (response.status < 400) return response;
		const isChanged = changes !== changesBefore || (plan.comparesState && (await subject.state()) !== before);
		if (isChanged) throw new Error(`A refused request changed something: ${response.text}`);
		return response;
	}

	describe('bodies', () => {
		test.each([
			['POST', '/teams'],
			['PUT', '/teams/{id}'],
			['POST', '/budgets'],
			['PUT', '/budgets/{id}'],
			['PUT', '/pricing/{provider}/{model}'],
			['POST', '/routing'],
			['PUT', '/routing/{id}'],
			['POST', '/clients'],
			['PUT', '/clients/{id}'],
			['POST', '/clients/{id}/rotate'],
			['POST', '/explain'],
		])('%s %s', async (method, path) => {
			for (const id of ['red', 'blue']) {
				await subject.send('POST', '/teams', { id });
				await subject.send('POST', '/budgets', { id, team: id, limit_usd: '1' });
				await subject.send('POST', '/clients', { id, name: id });
				await subject.send('POST', '/routing', { id, name: id, targets: [{ provider: 'local' }] });
			}
			const schema = document.operations.find((one) => one.method === method && one.path === path)?.body ?? {};
			const seen = new Map<number, number>();
			await fc.assert(
				fc.asyncProperty(
					schemaBodies(schema, hints),
					fc.constantFrom('red', 'red', 'red', ...ids),
					fc.constantFrom('local', 'local', 'provider_b', 'absent'),
					fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.constantFrom('*', '"1"', 'W/"1"', 'x')),
					async (made, id, provider, ifMatch) => {
						const body = asSent(method, path, made);
						const target = pathOf(path, path.startsWith('/pricing') ? [provider, id] : [id]);
						const { status } = await judge(() =>
							subject.send(method, target, JSON.stringify(body), ifMatch === undefined ? {} : { 'if-match': ifMatch }),
						);
						seen.set(status, (seen.get(status) ?? 0) + 1);
					},
				),
				{ numRuns: runsOf(path) },
			);
			// With rejected bodies only, nothing behind the schema is tested; with valid bodies only, nothing in it is.
			const succeeded = (seen.get(200) ?? 0) + (seen.get(201) ?? 0);
			expect(succeeded).toBeGreaterThan(runsOf(path) / 50);
			expect(seen.get(422) ?? 0).toBeGreaterThan(runsOf(path) / 50);
		});
	});

	describe('queries', () => {
		test.each([
			'/teams',
			'/budgets',
			'/pricing',
			'/routing',
			'/clients',
			'/audit',
			'/requests',
			'/guardrails/assessments',
			'/usage',
			'/usage/{team}',
			'/usage/{team}/history',
		])('%s', async (path) => {
			await subject.book({ model: '=x' });
			const names = document.operations
				.find((one) => one.method === 'GET' && one.path === path)
				?.parameters.flatMap((one) => (one.in === 'query' ? [one.name] : []));
			const value = fc.oneof(
				fc.constantFrom(...likely, '1', '1000', '1001', 'true', 'model', 'day', 'complete', 'team', 'ImEi'),
				fc.string({ maxLength: 8 }),
			);
			await fc.assert(
				fc.asyncProperty(
					fc.array(fc.tuple(fc.constantFrom(...(names ?? []), 'extra'), value), { maxLength: 3 }),
					fc.constantFrom('*/*', 'text/csv', 'application/json'),
					async (pairs, accept) => {
						await judge(() =>
							subject.send('GET', `${pathOf(path, ['red'])}?${new URLSearchParams(pairs).toString()}`, undefined, { accept }),
						);
					},
				),
				{ numRuns: plan.queries },
			);
		});
	});

	test('bytes that are no JSON are rejected by every operation that reads a body', async () => {
		const readers = document.operations.filter(({ body }) => body !== undefined);
		await fc.assert(
			fc.asyncProperty(fc.constantFrom(...readers), fc.uint8Array({ minLength: 1, maxLength: 40 }), async ({ method, path }, bytes) => {
				const response = await judge(() => subject.send(method, pathOf(path, ['red', 'red']), bytes));
				expect([400, 422]).toContain(response.status);
			}),
			{ numRuns: 150 },
		);
	});
}
