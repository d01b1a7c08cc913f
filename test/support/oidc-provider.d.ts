/** Types of the package as far as the tests use it; the package has none. */
declare module 'oidc-provider' {
	import type { RequestListener } from 'node:http';

	export class Provider {
		constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
		callback(): RequestListener;
	}
}
