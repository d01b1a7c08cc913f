/** Requests by source address over a sliding window, counted by several processes together. */
export interface SourceCounts {
	/**
	 * @param counts what came from each source since the last time; 0 only asks.
	 * @returns requests of each source in the window, in the order asked.
	 * @throws CountersUnreachable
	 */
	add(counts: readonly { readonly source: string; readonly requests: number }[], windowSeconds: number): Promise<readonly number[]>;
	close(): Promise<void>;
}
