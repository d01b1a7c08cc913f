import type { DatabaseSync } from 'node:sqlite';
import type { RecordTable } from '../contracts/record-changes.ts';
import type { PriceKey, PriceOverride } from '../contracts/records.ts';
import { bigintOf, integerOf, textOf } from './database.ts';
import { prepareTable } from './versioned-records.ts';

export function createPriceOverrideTable(database: DatabaseSync): RecordTable<PriceKey, PriceOverride, never> {
	return {
		kind: 'price_override',
		nameOf: ({ provider, model }) => `${provider}/${model}`,
		keyOf: ({ provider, model }) => ({ provider, model }),
		conflictOf: () => undefined,
		...prepareTable<PriceKey, PriceOverride>(database, {
			table: 'price_overrides',
			key: ['provider', 'model'],
			rest: ['input_pico_usd', 'output_pico_usd', 'cache_read_pico_usd', 'cache_write_pico_usd', 'updated_at_ms'],
			keyValues: ({ provider, model }) => [provider, model],
			values: (price) => [
				price.provider,
				price.model,
				price.inputPicoUsd,
				price.outputPicoUsd,
				price.cacheReadPicoUsd,
				price.cacheWritePicoUsd,
				price.updatedAtMs,
			],
			valueOf: (row) => ({
				provider: textOf(row, 'provider'),
				model: textOf(row, 'model'),
				inputPicoUsd: bigintOf(row, 'input_pico_usd'),
				outputPicoUsd: bigintOf(row, 'output_pico_usd'),
				cacheReadPicoUsd: bigintOf(row, 'cache_read_pico_usd'),
				cacheWritePicoUsd: bigintOf(row, 'cache_write_pico_usd'),
				updatedAtMs: integerOf(row, 'updated_at_ms'),
			}),
		}),
	};
}
