/** Requests by source address over a sliding window, counted by several processes together. */
export interface SourceCounts {
	/**
	 * @param counts new requests of each source since the last call; 0 only reads.
	 * @returns requests of each source in the window, in the order given.
	 * @throws CountersUnreachable
	 */
	add(counts: readonly { readonly source: string; readonly requests: number }[], windowSeconds: number): Promise<readonly number[]>;
	close(): Promise<void>;
}
