/** A store that cannot be opened. The message names the place, what is wrong with it and what to do. */
export class StoreUnusable extends Error {
	override readonly name = 'StoreUnusable';
	/** A server that is away may come back; what is wrong with it otherwise, somebody must correct. */
	readonly mayPass: boolean;

	constructor(message: string, { mayPass = false, ...options }: ErrorOptions & { readonly mayPass?: boolean } = {}) {
		super(message, options);
		this.mayPass = mayPass;
	}
}
