/** A store that cannot be opened. The message names the location, the problem and the remedy. */
export class StoreUnusable extends Error {
	override readonly name = 'StoreUnusable';
	/** True if the server is unavailable and may return; false if somebody must correct the problem. */
	readonly canPass: boolean;

	constructor(message: string, { canPass = false, ...options }: ErrorOptions & { readonly canPass?: boolean } = {}) {
		super(message, options);
		this.canPass = canPass;
	}
}
