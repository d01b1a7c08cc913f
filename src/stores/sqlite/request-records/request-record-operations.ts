import type { RecordedRequest, RequestPage, RequestQuery, RequestSpan } from '../../contracts/request-records.ts';
import type { BuiltBlock } from '../../request-blocks/block-builder.ts';
import type { BlocksOfSpan } from '../../request-blocks/read-span.ts';
import type { WorkerOperations } from '../../store-thread.ts';

/** Calls of the main thread to the thread that writes request records. */
export interface RequestWriterOperations extends WorkerOperations {
	write(block: BuiltBlock): null;
	/** @returns true if there may be more. */
	mergeSome(): boolean;
	/** @returns true if there may be more. */
	pruneSome(bounds: { readonly beforeMs: number; readonly maxBytes: number }): boolean;
	stop(): null;
}

/** Calls of the main thread to the thread that reads request records. */
export interface RequestReaderOperations extends WorkerOperations {
	open(): null;
	list(query: RequestQuery): Promise<RequestPage>;
	scan(span: RequestSpan): Promise<BlocksOfSpan>;
	find(id: string): Promise<RecordedRequest | null>;
	stop(): null;
}
