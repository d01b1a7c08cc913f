export interface SimulatorSettings {
	/** Time between two events of a stream. */
	readonly intervalMs: number;
	/** Delay before the response headers. */
	readonly firstByteMs: number;
	/** Keys that the simulator rejects, in addition to every key that contains `bad-key`. */
	readonly rejectedKeys: readonly string[];
	readonly maxBodyBytes: number;
	/** Keeps the bodies of the latest requests for `GET /_simulator/requests`. */
	readonly recordBodies: boolean;
	/** Minimum length of a cached prompt. */
	readonly minimumCachedTokens: number;
	/** Adds `retry-after` to every n-th 200 response of the Anthropic dialect, as the vendor does; 0 disables it. */
	readonly retryAfterEvery: number;
}

export const defaultSimulatorSettings: SimulatorSettings = {
	intervalMs: 5,
	firstByteMs: 0,
	rejectedKeys: ['REPLACE_ME'],
	maxBodyBytes: 33_554_432,
	recordBodies: false,
	minimumCachedTokens: 1024,
	retryAfterEvery: 15,
};
