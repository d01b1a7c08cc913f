/** Contract of every store of request records. Each backend runs this unchanged. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMemoryRequestRecords } from '../../../test/support/memory-request-records.ts';
import { recordedRequest, rejectedRequest } from '../../../test/support/recorded-request.ts';
import {
	firstIdOf,
	noAttributes,
	type RecordedRequest,
	type RequestQuery,
	type RequestRecordReader,
	type RequestRecords,
	type RequestScan,
	startedMsOf,
} from './request-records.ts';

export interface RequestRecordsSubject {
	readonly records: RequestRecords;
	/** Reader of another process. */
	readonly reader: RequestRecordReader;
	dispose(): Promise<void>;
}

function endOf({ id, durationMs }: RecordedRequest): number {
	return (startedMsOf(id) ?? 0) + durationMs;
}

const startMs = Date.UTC(2026, 10, 21);

export function requestRecordsContract(name: string, open: () => Promise<RequestRecordsSubject>): void {
	describe(`request records in ${name}`, () => {
		let subject: RequestRecordsSubject;
		let records: RequestRecords;
		beforeEach(async () => {
			subject = await open();
			({ records } = subject);
		});
		afterEach(() => subject.dispose());

		const idsOf = async (query: Partial<RequestQuery> = {}): Promise<string[]> =>
			(await records.list({ limit: 100, ...query })).requests.map(({ id }) => id);

		test('a record is found at once, with every field', async () => {
			const plain = recordedRequest(startMs, 1);
			const failed = recordedRequest(startMs + 1, 2, {
				status: 502,
				outcome: 'failed',
				code: 'provider_unreachable',
				isStreaming: true,
				isEstimated: true,
				isPriced: false,
				allowList: 'teams.red.models.deny',
				isOutputCapped: true,
				isTeamByRule: true,
				size: {
					writtenTokens: 7,
					boundTokens: 9,
					contextWindows: 10,
					prompts: 3,
					capTokens: 4,
					hasOwnCap: true,
					choices: 2,
					defaultTokens: 16,
					cacheWrites: 'hour',
					hasHostedTools: true,
					maxToolCalls: 5,
					surchargedField: 'service_tier',
					requestsThinking: true,
					isBackground: true,
				},
				routing: { session: 4_294_967_295, providerHeader: 'provider_b', isPinned: true, isDiverted: true },
				usage: {
					inputTokens: 1,
					cacheReadTokens: 2,
					cacheWriteTokens: 3,
					cacheWriteHourTokens: 1,
					outputTokens: 4,
					reasoningTokens: 2,
					toolCalls: { web_search: 2 },
				},
				monitored: ['rpm_limit_exceeded', 'budget_exceeded'],
				monitoredRoute: { rule: 'cheap', provider: 'provider_b', model: 'gpt-mini' },
				attributes: { project: 'search', user: '<script>alert("ü")</script>' },
				targets: [
					{ provider: 'provider_b', model: 'gpt-4o', status: 503, code: null, ms: 3.1 },
					{ provider: 'provider_a', model: 'claude', status: null, code: 'provider_unreachable', ms: 0 },
				],
			});
			const limited = recordedRequest(startMs + 2, 3, {
				...rejectedRequest,
				code: 'rpm_limit_exceeded',
				limit: { kind: 'requests_per_minute', limit: 5, used: 5, reserved: 0, resetsAtMs: startMs + 60_000 },
			});
			const budgeted = recordedRequest(startMs + 3, 4, {
				...rejectedRequest,
				code: 'budget_exceeded',
				limit: { kind: 'budget', limit: 10n ** 18n + 1n, used: 10n ** 18n, reserved: 1n, resetsAtMs: null },
			});
			const early = recordedRequest(startMs + 4, 5, {
				...rejectedRequest,
				status: 403,
				team: null,
				modelRequested: null,
				model: null,
				provider: null,
				size: null,
				code: 'client_unregistered',
			});
			const all = [plain, failed, limited, budgeted, early];
			for (const request of all) records.add(request);
			for (const request of all) expect(await records.find(request.id)).toEqual(request);
			expect((await records.list({ limit: 10 })).requests).toEqual(all.toReversed());
			expect((await subject.reader.list({ limit: 10 })).requests).toEqual(all.toReversed());
			expect(await subject.reader.find(failed.id)).toEqual(failed);
		});

		test('a scan reads each request of the span once, oldest first, whatever the order of their ends', async () => {
			// Long requests end late, so that their blocks cover the starts of many others.
			const all = Array.from({ length: 9000 }, (_, index) =>
				recordedRequest(startMs + 7 * index, index, { durationMs: index % 50 === 0 ? 60_000 : 20.3 }),
			);
			for (const request of all.toSorted((one, other) => endOf(one) - endOf(other))) records.add(request);
			const span = { fromMs: startMs + 700, toMs: startMs + 62_300 };
			const found: string[] = [];
			let nextMs: number | null = span.fromMs;
			for (let scans = 0; nextMs !== null && scans < 100; scans++) {
				const scan: RequestScan = await records.scan({ ...span, fromMs: nextMs });
				for (const { id } of scan.requests) found.push(id);
				nextMs = scan.nextMs;
			}
			expect(nextMs).toBeNull();
			expect(found).toEqual(all.slice(100, 8900).map(({ id }) => id));
		});

		test('an unknown id is undefined', async () => {
			records.add(recordedRequest(startMs, 1));
			const [known = ''] = await idsOf();
			for (const id of [`${known}0`, known.slice(0, -1), known.toUpperCase(), 'req_', '', '__proto__', firstIdOf(startMs), "' OR 1=1"]) {
				expect(await records.find(id)).toBeUndefined();
			}
		});

		test('an empty store has an empty page', async () => {
			expect(await records.list({ limit: 5 })).toEqual({ requests: [], nextCursor: null });
			expect(await subject.reader.list({ limit: 5, team: 'red' })).toEqual({ requests: [], nextCursor: null });
		});

		test('an unknown cursor is a RangeError', async () => {
			for (const cursor of ['', 'x', 'req_', "req_0' OR '1'='1"]) {
				await expect(records.list({ limit: 5, cursor })).rejects.toBeInstanceOf(RangeError);
			}
		});

		test('long texts are cut, and hostile ones stay as they are', async () => {
			const model = 'm'.repeat(1000);
			records.add(recordedRequest(startMs, 1, { modelRequested: model, model: "'; DROP TABLE blocks; --\u0000", clientId: '__proto__' }));
			const [request] = (await records.list({ limit: 1, clientId: '__proto__' })).requests;
			expect(request).toMatchObject({ modelRequested: model.slice(0, 256), model: "'; DROP TABLE blocks; --\u0000" });
		});

		test('pages have every request of every filter once, newest first, while others are added', async () => {
			const model = createMemoryRequestRecords();
			let seed = 7;
			const random = (below: number): number => {
				seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
				return seed % below;
			};
			const add = (sequence: number): void => {
				const longMs = random(20) === 0 ? random(600_000) : random(40_000) / 10;
				const team = ['red', 'blue', 'green'][random(3)] ?? '';
				const isRejected = random(5) === 0;
				const request = recordedRequest(startMs + sequence * 40 - Math.round(longMs), sequence, {
					...(isRejected ? { ...rejectedRequest, code: random(2) === 0 ? 'rpm_limit_exceeded' : 'budget_exceeded' } : {}),
					team,
					clientId: `${team}-${random(4)}`,
					durationMs: longMs,
					modelRequested: ['gpt-4o', 'fast'][random(2)] ?? '',
					provider: random(50) === 0 ? 'provider_rare' : 'provider_b',
					monitored: random(10) === 0 ? ['tpm_limit_exceeded'] : [],
					attributes: random(2) === 0 ? noAttributes : { project: `p${random(3)}`, user: String(random(1000)) },
				});
				records.add(request);
				model.add(request);
			};
			for (let sequence = 0; sequence < 6000; sequence++) {
				add(sequence);
				if (sequence % 150 === 0) await records.find('req_');
			}
			const filters: Partial<RequestQuery>[] = [
				{},
				{ team: 'red' },
				{ clientId: 'blue-1', status: 429 },
				{ model: 'fast', team: 'green' },
				{ model: 'gpt-4o' },
				{ code: 'rpm_limit_exceeded' },
				{ code: 'tpm_limit_exceeded', team: 'blue' },
				{ provider: 'provider_rare' },
				{ attributes: { project: 'p1' } },
				{ attributes: { project: 'p1', user: '17' } },
				{ endpoint: '/v1/messages' },
				{ fromMs: startMs + 60_000, toMs: startMs + 90_000 },
				{ fromMs: startMs + 60_000, toMs: startMs + 60_000 },
				{ team: 'red', toMs: startMs + 30_000, limit: 7 },
			];
			for (const filter of filters) {
				const expected = (await model.list({ limit: 100_000, ...filter, ...(filter.limit === undefined ? {} : { limit: 100_000 }) }))
					.requests;
				const found: RecordedRequest[] = [];
				let cursor: string | null = null;
				do {
					const query: RequestQuery = { limit: 500, ...filter, ...(cursor !== null && { cursor }) };
					const page = await records.list(query);
					expect(page.requests.length).toBeLessThanOrEqual(query.limit);
					found.push(...page.requests);
					cursor = page.nextCursor;
					// Newer than everything listed.
					records.add(recordedRequest(startMs + 900_000 + found.length, found.length, { team: 'later', clientId: 'later' }));
				} while (cursor !== null);
				const early = found.filter(({ team }) => team !== 'later');
				expect(early.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
				expect(early).toEqual(expected);
			}
		}, 60_000);
	});
}
