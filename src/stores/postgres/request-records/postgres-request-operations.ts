import type { RecordedRequest, RequestPage, RequestQuery, RequestSpan } from '../../contracts/request-records.ts';
import type { BuiltBlock } from '../../request-blocks/block-builder.ts';
import type { BlocksOfSpan } from '../../request-blocks/read-span.ts';

/** Calls of the main thread to the thread that owns the PostgreSQL connections. */
export type PostgresRequestOperations = {
	/** Does not connect. @returns the server's address, without credentials. @throws StoreUnusable for an invalid URL. */
	open(argument: null): string;
	write(block: BuiltBlock): Promise<null>;
	/** @returns true if there may be more. */
	mergeSome(argument: null): Promise<boolean>;
	/** @returns true if there may be more. */
	pruneSome(bounds: { readonly beforeMs: number; readonly maxBytes: number }): Promise<boolean>;
	list(query: RequestQuery): Promise<RequestPage>;
	scan(span: RequestSpan): Promise<BlocksOfSpan>;
	find(id: string): Promise<RecordedRequest | null>;
	stop(argument: null): Promise<null>;
};
