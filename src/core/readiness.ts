/** Whether the process can do its work now. */
export interface Readiness {
	readonly isReady: boolean;
	/** State of each dependency by name, such as `ok` or `unreachable`. Anyone can read it. */
	readonly dependencies: Readonly<Record<string, string>>;
}
