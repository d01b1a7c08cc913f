/** A store that cannot be opened. The message names the place, what is wrong with it and what to do. */
export class StoreUnusable extends Error {
	override readonly name = 'StoreUnusable';
}
