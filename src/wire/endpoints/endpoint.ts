import type { ClientDialect } from '../dialects/dialect.ts';

/** An address that requests of a model are sent to. */
export interface Endpoint {
	/** Where it is served, and what SDKs append to their base address. */
	readonly path: string;
	readonly dialect: ClientDialect;
	/** A count is answered without a response of the model, and costs nothing. */
	readonly kind: 'inference' | 'token_count';
}
