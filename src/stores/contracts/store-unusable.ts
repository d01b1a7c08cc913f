/** A store that cannot be opened. The message names the location, the problem and the remedy. */
export class StoreUnusable extends Error {
	override readonly name = 'StoreUnusable';
	/** True if the server is unavailable and may return; false if somebody must correct the problem. */
	readonly mayPass: boolean;

	constructor(message: string, { mayPass = false, ...options }: ErrorOptions & { readonly mayPass?: boolean } = {}) {
		super(message, options);
		this.mayPass = mayPass;
	}
}
