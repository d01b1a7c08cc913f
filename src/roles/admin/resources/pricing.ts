import { z } from 'zod';
import { ByModel } from '../../../core/by-model.ts';
import { Rejection } from '../../../core/rejection.ts';
import { defaultPrice, listDefaultPrices, listedModel } from '../../../policy/budgets/price-of.ts';
import { otherModel } from '../../../policy/limits/reported-models.ts';
import { dayOf } from '../../../policy/limits/utc-time.ts';
import { providerNamed } from '../../../policy/routing/provider-names.ts';
import type { PriceKey, PriceOverride, Stored } from '../../../stores/contracts/records.ts';
import type { AdminDeps } from '../admin-deps.ts';
import type { AdminProvider } from '../admin-settings.ts';
import { checkFields } from '../check-fields.ts';
import { fieldInvalid } from '../fields-rejection.ts';
import { monthsBefore } from '../months.ts';
import { type CsvResponse, defineOperation, type Operation } from '../operation.ts';
import { pageOf, pageQuery, type SortedUsageRows, sortUsageRows, takePage, whileSame } from '../page.ts';
import { defaultBody, overrideBody, type PriceBody, price, priceChange, unpricedBody } from '../schemas/price.ts';
import { modelName, named, picoUsdOf } from '../schemas/values.ts';
import { deleteStored, entityTag, type RequestedChange, requireMatch } from '../stored-records.ts';

const tag = 'pricing';
const params = z.strictObject({ provider: z.string(), model: z.string().describe('Can contain slashes and colons, encoded or not.') });
const path = '/pricing/{provider}/{model}';
const one = { schema: price, hasEntityTag: true } as const;

const priceList = named('PriceList', pageOf(price));

export function pricingOperations(deps: AdminDeps): Operation[] {
	const { records, runExclusive } = deps;
	const requestedModels = rememberRequested(deps);
	const inOrder = whileSame(orderPrices);
	return [
		defineOperation({
			method: 'GET',
			path: '/pricing',
			access: { needs: 'read', team: 'shared' },
			tag,
			summary: 'List prices: overrides first, then defaults',
			query: z.strictObject({
				...pageQuery,
				provider: z.string().optional().describe('Only this provider.'),
				unpriced: z.boolean().optional().describe('True: only models without a price that were used in this or the last month.'),
			}),
			success: { status: 200, schema: priceList },
			run: async ({ query, authority }) => {
				// Models in use by other teams.
				if (query.unpriced === true && authority.teams !== 'all') throw authority.missing('admin:read');
				const all =
					query.unpriced === true
						? sortUsageRows(await listUnpriced(deps, await requestedModels()), nameOf)
						: inOrder(await records.priceOverrides.list(), deps.configured().providers, dayOf(deps.clock.nowMs()));
				const provider = query.provider === undefined ? undefined : providerNamed(query.provider, deps.configured().providers);
				const wanted = provider === undefined ? all : all.filter(({ row }) => row.provider === provider);
				return { body: takePage(wanted, query, (row) => row) };
			},
		}),
		defineOperation({
			method: 'GET',
			path,
			access: { needs: 'read', team: 'shared' },
			tag,
			summary: 'Get the price of a model',
			description:
				'Returns the price that applies: for a deployment that of its model, for a dated name that of its family. Only an override of this exact name has an `etag`.',
			params,
			success: { status: 200, ...one },
			rejections: ['record_unknown'],
			run: async ({ params: requested }) => {
				const key = keyNamed(requested, deps);
				const override = await records.priceOverrides.get(key);
				if (override !== undefined) return priceResult(override);
				const body = (await priceFinder(deps))(key);
				if (body === undefined) throw new Rejection('record_unknown', { message: 'The model has no price' });
				return { body };
			},
		}),
		defineOperation({
			method: 'PUT',
			path,
			access: { needs: 'write', team: 'denied' },
			tag,
			summary: 'Set a price override',
			description: 'An override replaces the default for requests that start after it.',
			params,
			body: priceChange,
			success: { status: 200, ...one },
			rejections: ['record_unknown', 'record_stale'],
			run: ({ params: key, body, ifMatch, author }) => runExclusive(() => setPrice(deps, keyNamed(key, deps), body, { ifMatch, author })),
		}),
		defineOperation({
			method: 'DELETE',
			path,
			access: { needs: 'write', team: 'denied' },
			tag,
			summary: 'Delete a price override',
			description: 'The default price applies again, if there is one.',
			params,
			success: { status: 204 },
			rejections: ['record_unknown', 'record_stale'],
			run: ({ params: requested, ifMatch, author }) =>
				runExclusive(() =>
					deleteStored(records.priceOverrides, keyNamed(requested, deps), 'The model has no override', { ifMatch, author }),
				),
		}),
	];
}

async function setPrice(
	deps: AdminDeps,
	{ provider, model: requested }: PriceKey,
	body: z.output<typeof priceChange>,
	{ ifMatch, author }: RequestedChange,
): Promise<CsvResponse> {
	const { model } = checkFields(z.object({ model: modelName }), { model: requested }, deps.nearestName);
	if (body.provider !== undefined && providerNamed(body.provider, deps.configured().providers) !== provider) {
		throw fieldInvalid('provider', 'must equal the value in the path');
	}
	if (body.model !== undefined && body.model !== model) throw fieldInvalid('model', 'must equal the value in the path');
	const { providers } = deps.configured();
	const { priceOverrides } = deps.records;
	const before = await priceOverrides.get({ provider, model });
	if (before === undefined && !providers.some(({ name }) => name === provider)) {
		throw new Rejection('record_unknown', {
			message: `Unknown provider \`${provider}\`. Use one of ${providers.map(({ name }) => name).join(', ')}`,
		});
	}
	requireMatch(ifMatch, before && entityTag(before.version));
	const input = body.input_usd_per_million_tokens;
	const record: PriceOverride = {
		provider,
		model,
		inputPicoUsd: picoUsdOf(input),
		outputPicoUsd: picoUsdOf(body.output_usd_per_million_tokens),
		cacheReadPicoUsd: picoUsdOf(body.cache_read_usd_per_million_tokens ?? input),
		cacheWritePicoUsd: picoUsdOf(body.cache_write_usd_per_million_tokens ?? input),
		updatedAtMs: author.atMs,
	};
	const outcome =
		before === undefined
			? await priceOverrides.create(record, { author })
			: await priceOverrides.replace(record, { author, ifVersion: before.version });
	const stored = await priceOverrides.get(record);
	// Another process set or removed the price between the read and the write.
	if (stored === undefined || (outcome !== 'created' && outcome !== 'replaced')) throw new Rejection('record_stale');
	return priceResult(stored);
}

/** Resolves the provider, which a path may name by its vendor. */
function keyNamed({ provider, model }: PriceKey, { configured }: AdminDeps): PriceKey {
	return { provider: providerNamed(provider, configured().providers), model };
}

function priceResult(record: Stored<PriceOverride>): CsvResponse {
	return { body: overrideBody(record), headers: { etag: entityTag(record.version) } };
}

type FindPrice = (key: PriceKey) => PriceBody | undefined;

/** Finds prices in the current configuration and overrides, in the precedence of `PriceResolver`. */
async function priceFinder({ records, configured, clock }: AdminDeps): Promise<FindPrice> {
	const day = dayOf(clock.nowMs());
	const providers = new Map(configured().providers.map((provider) => [provider.name, provider]));
	const stored = Map.groupBy(await records.priceOverrides.list(), ({ provider }) => provider);
	const overrides = new Map(
		[...stored].map(([provider, some]) => [provider, new ByModel(some.map((override) => [override.model, override]))]),
	);
	return ({ provider, model }) => {
		const ofProvider = overrides.get(provider);
		const { kind, vendorModel } = providers.get(provider) ?? {};
		const meant = vendorModel?.(model) ?? model;
		const listed = kind === undefined ? undefined : listedModel(kind, meant);
		const override = ofProvider?.find(model) ?? (listed === undefined ? undefined : ofProvider?.find(listed));
		if (override !== undefined) return overrideBody(override, model);
		const found = kind === undefined ? undefined : defaultPrice(kind, meant, day);
		return found && defaultBody(provider, { model: listed ?? meant, price: found }, model);
	};
}

function orderPrices(overrides: readonly PriceOverride[], providers: readonly AdminProvider[], day: string): SortedUsageRows<PriceBody> {
	const defaults = providers.flatMap(({ name, kind }) => listDefaultPrices(kind, day).map((entry) => defaultBody(name, entry)));
	const byName = new Map([...defaults, ...overrides.map((record) => overrideBody(record))].map((entry) => [nameOf(entry), entry]));
	return sortUsageRows([...byName.values()], (entry) => `${entry.source === 'override' ? 0 : 1}${nameOf(entry)}`);
}

const retentionMs = 60_000;

/**
 * Caches the models of two months: their sums take a long read that would delay those of teams. Unpriced models of this process are added
 * later.
 */
function rememberRequested({ clock, ledger }: AdminDeps): () => Promise<readonly PriceKey[]> {
	let called: Promise<readonly PriceKey[]> | undefined;
	let endsAtMs = 0;
	return () => {
		if (called !== undefined && clock.monotonicMs() < endsAtMs) return called;
		const nowMs = clock.nowMs();
		const read = ledger.summarize({ fromMs: monthsBefore(nowMs, 1), toMs: nowMs + 1, period: 'all', by: ['provider', 'model'] });
		called = read;
		endsAtMs = clock.monotonicMs() + retentionMs;
		read.catch(() => {
			if (called === read) called = undefined;
		});
		return read;
	};
}

/**
 * Models of admitted requests, by any process, and models that this process rejected. `other` covers several models and can have no price.
 */
async function listUnpriced(deps: AdminDeps, called: readonly PriceKey[]): Promise<PriceBody[]> {
	const findPrice = await priceFinder(deps);
	const models = new Map(
		[...called, ...deps.unpricedModels()].map(({ provider, model }) => [nameOf({ provider, model }), { provider, model }]),
	);
	const isUnpriced = (key: PriceKey): boolean => key.model !== otherModel && findPrice(key) === undefined;
	return [...models].filter(([, key]) => isUnpriced(key)).map(([, { provider, model }]) => unpricedBody(provider, model));
}

function nameOf({ provider, model }: PriceKey): string {
	return `${provider}\u0000${model}`;
}
