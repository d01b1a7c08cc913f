/** Endpoints and attributes: a part of the contract of every ledger. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { closeEntry } from '../../../test/support/close-entry.ts';
import { type Attributes, attributesText } from '../../core/attributes.ts';
import { noUsage } from '../../core/usage.ts';
import {
	type CostScope,
	type Ledger,
	maxAttributesPerDay,
	type OpenEntry,
	otherAttributes,
	type SummaryName,
	type SummaryQuery,
	type UsageSummary,
} from './ledger.ts';

const atMs = Date.UTC(2026, 10, 21, 10, 30);
const hourMs = 3_600_000;
const span = { fromMs: Date.UTC(2026, 10, 1), toMs: Date.UTC(2026, 11, 1) };

type OpenAndClose = (id: string, row: Partial<OpenEntry>) => Promise<void>;

/** @param openAndClose opens and closes an entry that costs 1,234 nano-dollars. */
export function attributesContract(ledger: () => Ledger, openAndClose: OpenAndClose): void {
	describe('endpoints and attributes', () => {
		const text = (attributes: Attributes): string => attributesText(attributes);
		const sumsOf = async (query: Partial<SummaryQuery>): Promise<string[]> =>
			(await ledger().summarize({ ...span, period: 'all', ...query })).map(
				({ period, endpoint, attributes, requests }) => `${period} ${endpoint} ${attributes} ${requests}`,
			);

		test('are listed as they were, also after a failover', async () => {
			const attributes = text({ project: 'a "quoted" \\ value, with=signs', user: '42' });
			await openAndClose('one', { endpoint: '/v1/messages', attributes });
			await openAndClose('two', { endpoint: '', attributes: '' });
			await ledger().open({ ...(await entryOf('one')), id: 'three' });
			await ledger().open({ ...(await entryOf('one')), id: 'three', model: 'next', endpoint: '/other', attributes: '' });
			const { rows } = await ledger().list({ limit: 9 });
			expect(rows.map((row) => [row.id, row.model === 'next', row.endpoint, row.attributes])).toEqual([
				['three', true, '/v1/messages', attributes],
				['two', false, '', ''],
				['one', false, '/v1/messages', attributes],
			]);
			expect(await sumsOf({ by: ['model', 'endpoint', 'attributes'] })).toEqual([
				'   1',
				` /v1/messages ${attributes} 1`,
				` /v1/messages ${attributes} 1`,
			]);
			expect(await ledger().check()).toEqual([]);
		});

		test('split sums: by endpoint, by all attributes, by some of them', async () => {
			const search = { project: 'search' };
			for (const [index, row] of [
				{ attributes: text({ ...search, user: '1' }) },
				{ attributes: text({ ...search, user: '2' }), endpoint: '/v1/messages' },
				{ attributes: text({ user: '2' }) },
				{ attributes: text({ project: 'mail' }) },
				{},
			].entries()) {
				await openAndClose(`r${index}`, { endpoint: '/v1/chat/completions', ...row });
			}
			expect(await sumsOf({ by: ['endpoint'] })).toEqual([' /v1/chat/completions  4', ' /v1/messages  1']);
			expect(await sumsOf({ by: ['attributes'] })).toEqual([
				'   1',
				'  {"project":"mail"} 1',
				'  {"project":"search","user":"1"} 1',
				'  {"project":"search","user":"2"} 1',
				'  {"user":"2"} 1',
			]);
			expect(await sumsOf({ by: ['attributes'], attributeNames: ['project'] })).toEqual([
				'   2',
				'  {"project":"mail"} 1',
				'  {"project":"search"} 2',
			]);
			expect(await sumsOf({ by: ['attributes', 'endpoint'], attributeNames: ['user', 'project'], team: 'red' })).toEqual([
				' /v1/chat/completions  1',
				' /v1/chat/completions {"project":"mail"} 1',
				' /v1/chat/completions {"project":"search","user":"1"} 1',
				' /v1/chat/completions {"user":"2"} 1',
				' /v1/messages {"project":"search","user":"2"} 1',
			]);
			expect(await sumsOf({ by: ['attributes'], attributeNames: ['unknown'] })).toEqual(['   5']);
			const query = { ...span, period: 'all', by: ['attributes'], attributeNames: ['project', 'user'] } as const;
			const pages: UsageSummary[] = [];
			for (let page: readonly UsageSummary[] = []; ; pages.push(...page)) {
				const after = pages.at(-1);
				page = await ledger().summarize({ ...query, limit: 1, ...(after && { after }) });
				if (page.length === 0) break;
			}
			expect(pages).toEqual(await ledger().summarize(query));
		});

		test('sums of hours', async () => {
			const midnightMs = Date.UTC(2026, 10, 22);
			for (const [index, startedMs] of [atMs, atMs + 5 * hourMs, midnightMs - 1, midnightMs].entries()) {
				await openAndClose(`r${index}`, { startedMs });
			}
			const hours = ['2026-11-21T10', '2026-11-21T15', '2026-11-21T23', '2026-11-22T00'];
			const byHour = { period: 'hour', by: [] as SummaryName[] } as const;
			expect(await sumsOf(byHour)).toEqual(hours.map((hour) => `${hour}   1`));
			expect(await sumsOf({ ...byHour, team: 'red', fromMs: 0 })).toEqual(hours.map((hour) => `${hour}   1`));
			expect(await sumsOf({ ...byHour, team: 'red', fromMs: atMs + hourMs, toMs: midnightMs })).toEqual(
				hours.slice(1, 3).map((hour) => `${hour}   1`),
			);
		});

		test('of random requests, every sum and every cost is that of their entries', async () => {
			const name = fc.constantFrom<string>('a', 'b');
			const attributes = fc.dictionary(fc.constantFrom('project', 'user'), fc.constantFrom('x', 'y"\\', '5'), { maxKeys: 2 });
			const entry = fc.record({
				clientId: name,
				provider: name,
				model: name,
				endpoint: name,
				attributes,
				hour: fc.nat(71),
				cost: fc.nat(1000),
				isClosed: fc.boolean(),
			});
			const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });
			const scope = fc.record({
				model: orNull(name),
				clientId: orNull(name),
				provider: orNull(name),
				attribute: orNull(fc.record({ name: fc.constantFrom('project', 'user'), value: fc.constantFrom('x', 'y"\\', '5', 'z') })),
			});
			const firstMs = Date.UTC(2026, 10, 20);
			let round = 0;
			await fc.assert(
				fc.asyncProperty(
					fc.array(entry, { maxLength: 25 }),
					fc.array(scope, { minLength: 1, maxLength: 4 }),
					fc.tuple(fc.nat(72), fc.nat(72)),
					async (entries, scopes, [one, other]) => {
						const team = `team${++round}`;
						for (const [index, { hour, cost, isClosed, attributes: named, ...row }] of entries.entries()) {
							const id = `${team}-${index}`;
							const startedMs = firstMs + hour * hourMs + 59;
							await ledger().open({ ...openFields, ...row, id, team, startedMs, attributes: text(named) });
							if (isClosed) await closeEntry(ledger(), { ...closeFields, id, endedMs: startedMs, costNanoUsd: BigInt(cost) });
						}
						const hours = { from: Math.min(one, other), to: Math.max(one, other) };
						const period = { fromMs: firstMs + hours.from * hourMs, toMs: firstMs + hours.to * hourMs };
						const inSpan = entries.filter(({ hour }) => hour >= hours.from && hour < hours.to);
						const costOf = ({ model, clientId, provider, attribute }: Omit<CostScope, 'team'>): bigint =>
							inSpan
								.filter((row) => row.isClosed && [null, row.model].includes(model) && [null, row.clientId].includes(clientId ?? null))
								.filter((row) => [null, row.provider].includes(provider ?? null))
								.filter((row) => !attribute || row.attributes[attribute.name] === attribute.value)
								.reduce((sum, { cost }) => sum + BigInt(cost), 0n);
						const of = scopes.map((one_) => ({ ...one_, team }));
						expect(await ledger().sumCosts({ ...period, of })).toEqual(scopes.map(costOf));
						const { costs } = await ledger().readTeam({ team, spans: [], costs: [{ ...period, of }] });
						expect(costs).toEqual([scopes.map(costOf)]);
						const sums = await ledger().summarize({ ...period, period: 'all', team, by: ['endpoint', 'attributes'] });
						const groups = Map.groupBy(inSpan, (row) => JSON.stringify([row.endpoint, text(row.attributes)]));
						expect(new Map(sums.map((row) => [JSON.stringify([row.endpoint, row.attributes]), [row.requests, row.costNanoUsd]]))).toEqual(
							new Map(
								[...groups].map(([key, rows]) => [
									key,
									[rows.length, rows.filter((row) => row.isClosed).reduce((sum, { cost }) => sum + BigInt(cost), 0n)],
								]),
							),
						);
					},
				),
				{ numRuns: 15 },
			);
			expect(await ledger().check()).toEqual([]);
		});

		async function entryOf(id: string): Promise<OpenEntry> {
			const { rows } = await ledger().list({ limit: 9 });
			const found = rows.find((row) => row.id === id);
			if (found === undefined) throw new Error(`${id} is not listed`);
			const { closed: _closed, ...opened } = found;
			return opened;
		}
	});
}

/** For ledgers whose sums outlive the process. */
export function boundedAttributesContract(open: () => Promise<Ledger>): void {
	test('further attributes of a day are summed as others, and charged to their own', async () => {
		const ledger = await open();
		const openAs = async (id: string, value: string, differences: Partial<OpenEntry> = {}): Promise<void> => {
			const attributes = attributesText({ project: `p${Number(value) % 2}`, user: value });
			await ledger.open({ ...openFields, id, team: 'red', startedMs: atMs, attributes, ...differences });
		};
		const close = (id: string, costNanoUsd: bigint) => closeEntry(ledger, { ...closeFields, id, endedMs: atMs, costNanoUsd });
		await Promise.all(Array.from({ length: maxAttributesPerDay }, (_, index) => openAs(`r${index}`, `${index}`)));
		await openAs('further', '10001');
		await openAs('closed at once', '10003');
		await close('closed at once', 3n);
		await openAs('known', '7');
		await openAs('next day', '10005', { startedMs: atMs + 24 * hourMs });
		await openAs('another team', '10007', { team: 'blue' });
		await openAs('moves', '10009');
		await openAs('moves', '10009', { model: 'next' });
		for (const [id, cost] of [
			['further', 5n],
			['known', 7n],
			['next day', 11n],
			['another team', 13n],
			['moves', 17n],
		] as const) {
			expect(await close(id, cost)).toBe('closed');
		}
		const day = { fromMs: Date.UTC(2026, 10, 21), toMs: Date.UTC(2026, 10, 22) };
		const sums = await ledger.summarize({ ...day, team: 'red', period: 'all', by: ['attributes'] });
		expect(sums).toHaveLength(maxAttributesPerDay + 1);
		expect(sums.find(({ attributes }) => attributes === otherAttributes)).toMatchObject({ requests: 3, costNanoUsd: 25n });
		const byProject = await ledger.summarize({ ...day, team: 'red', period: 'all', by: ['attributes'], attributeNames: ['project'] });
		expect(byProject.map(({ attributes, costNanoUsd }) => [attributes, costNanoUsd])).toEqual([
			[otherAttributes, 25n],
			['{"project":"p0"}', 0n],
			['{"project":"p1"}', 7n],
		]);
		const scope = { team: 'red', model: null };
		const of = [
			scope,
			{ ...scope, attribute: { name: 'project', value: 'p1' } },
			{ ...scope, attribute: { name: 'user', value: '10001' } },
			{ ...scope, model: 'next', attribute: { name: 'project', value: 'p1' } },
		];
		expect(await ledger.sumCosts({ ...day, of })).toEqual([32n, 32n, 5n, 17n]);
		const { rows } = await ledger.list({ limit: 1, team: 'blue' });
		expect(rows[0]?.attributes).toBe('{"project":"p1","user":"10007"}');
		expect((await ledger.list({ limit: 1000, team: 'red' })).rows.find(({ id }) => id === 'further')?.attributes).toContain('10001');
		expect(await ledger.check()).toEqual([]);
	});
}

const openFields = {
	clientId: 'client',
	provider: 'provider_a',
	model: 'claude',
	dialect: 'chat',
	isStreaming: false,
	priceVersion: 'default:2026-11-01',
	reservedNanoUsd: 0n,
	budgets: [],
	endpoint: '/v1/chat/completions',
} as const;

const closeFields = { outcome: 'complete', status: 200, usage: noUsage, isEstimated: false } as const;
