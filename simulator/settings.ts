export interface SimulatorSettings {
	/** Between two events of a stream. */
	readonly intervalMs: number;
	/** Before the head of an answer. */
	readonly firstByteMs: number;
	/** Keys that the vendors refuse, beside every key that contains `bad-key`. */
	readonly refusedKeys: readonly string[];
	readonly maxBodyBytes: number;
	/** Keeps the last requests' bodies for `GET /_simulator/requests`. */
	readonly recordBodies: boolean;
	/** Shorter prompts are not cached. */
	readonly minimumCachedTokens: number;
	/** Every n-th answer 200 of the Anthropic wire carries `retry-after`, as the vendor's do; 0 is none. */
	readonly retryAfterEvery: number;
}

export const defaultSimulatorSettings: SimulatorSettings = {
	intervalMs: 5,
	firstByteMs: 0,
	refusedKeys: ['REPLACE_ME'],
	maxBodyBytes: 33_554_432,
	recordBodies: false,
	minimumCachedTokens: 1024,
	retryAfterEvery: 15,
};
