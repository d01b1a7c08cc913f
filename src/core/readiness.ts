/** Readiness of the process to serve requests. */
export interface Readiness {
	readonly isReady: boolean;
	/** State of each dependency by name, such as `ok` or `unreachable`. Publicly readable. */
	readonly dependencies: Readonly<Record<string, string>>;
}
