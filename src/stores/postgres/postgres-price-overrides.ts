import type { Insertable, Selectable } from 'kysely';
import type { PriceKey, PriceOverride, Stored } from '../contracts/records.ts';
import type { PriceOverridesTable } from './records-schema.ts';
import type { PostgresTable } from './versioned-records.ts';

export const priceOverrideTable: PostgresTable<PriceKey, PriceOverride, never> = {
	kind: 'price_override',
	nameOf: ({ provider, model }) => `${provider}/${model}`,
	keyOf: ({ provider, model }) => ({ provider, model }),
	async find(db, { provider, model }) {
		const row = await db
			.selectFrom('price_overrides')
			.selectAll()
			.where('provider', '=', provider)
			.where('model', '=', model)
			.executeTakeFirst();
		return row && priceOf(row);
	},
	list: async (db) => (await db.selectFrom('price_overrides').selectAll().orderBy('provider').orderBy('model').execute()).map(priceOf),
	conflictOf: async () => undefined,
	put(db, price) {
		const row = rowOf(price);
		return db
			.insertInto('price_overrides')
			.values(row)
			.onConflict((conflict) => conflict.columns(['provider', 'model']).doUpdateSet(row))
			.execute();
	},
	remove: (db, { provider, model }) =>
		db.deleteFrom('price_overrides').where('provider', '=', provider).where('model', '=', model).execute(),
};

function rowOf(price: Stored<PriceOverride>): Insertable<PriceOverridesTable> {
	return {
		provider: price.provider,
		model: price.model,
		input_pico_usd: price.inputPicoUsd,
		output_pico_usd: price.outputPicoUsd,
		cache_read_pico_usd: price.cacheReadPicoUsd,
		cache_write_pico_usd: price.cacheWritePicoUsd,
		updated_at_ms: price.updatedAtMs,
		version: price.version,
	};
}

function priceOf(row: Selectable<PriceOverridesTable>): Stored<PriceOverride> {
	return {
		provider: row.provider,
		model: row.model,
		inputPicoUsd: row.input_pico_usd,
		outputPicoUsd: row.output_pico_usd,
		cacheReadPicoUsd: row.cache_read_pico_usd,
		cacheWritePicoUsd: row.cache_write_pico_usd,
		updatedAtMs: Number(row.updated_at_ms),
		version: Number(row.version),
	};
}
