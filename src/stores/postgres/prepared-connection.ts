/** A connection whose tables are brought up to date before anything else is done with them, also when its server comes late. */
import { StoreUnusable } from '../contracts/store-unusable.ts';
import { migrate, type SchemaPart } from './migrate.ts';
import type { PostgresConnection, PostgresDeps } from './postgres-connection.ts';

export interface PreparedConnection<Tables> {
	/** As the one given, but that `run` prepares it first. */
	readonly connection: PostgresConnection<Tables>;
	/** Tries once more, unless it is done. @throws StoreUnusable */
	prepare(): Promise<void>;
}

export function prepareFirst<Tables>(
	connection: PostgresConnection<Tables>,
	part: SchemaPart,
	{ log }: PostgresDeps,
): PreparedConnection<Tables> {
	let preparing: Promise<void> | undefined;
	let complaint: 'warn' | 'error' | undefined;
	const prepareOnce = async (): Promise<void> => {
		try {
			await migrate(connection, [part]);
		} catch (cause) {
			preparing = undefined;
			const level = cause instanceof StoreUnusable && cause.mayPass ? 'warn' : 'error';
			if (level !== complaint) log[level](`${part.name} in postgres cannot be used yet`, { cause: String(cause) });
			complaint = level;
			throw cause;
		}
		if (complaint !== undefined) log.info(`${part.name} in postgres can be used now`, { address: connection.address });
	};
	const prepare = (): Promise<void> => {
		preparing ??= prepareOnce();
		return preparing;
	};
	return {
		prepare,
		connection: {
			...connection,
			async run(statements) {
				await prepare();
				return connection.run(statements);
			},
		},
	};
}
