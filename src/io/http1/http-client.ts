/** Chooses the client for each upstream request: the native one, or undici if the configuration or a proxy requires it. */
import { UpstreamError } from '../../core/upstream-error.ts';
import { createUpstreamClient, type UpstreamClient, type UpstreamClientOptions } from './client/upstream-client.ts';

export type HttpClientName = 'native' | 'undici';

async function importUndici(options: UpstreamClientOptions): Promise<UpstreamClient> {
	const { createUndiciClient } = await import('./undici/undici-client.ts');
	return createUndiciClient(options);
}

/**
 * With `native`, undici is loaded with the first request through a proxy, because it adds more to the start than the rest of the data
 * plane's client.
 * @param loadUndici called at most once; if it fails, each request that needs undici fails with its error.
 */
export function createHttpClient(name: HttpClientName, options: UpstreamClientOptions, loadUndici = importUndici): UpstreamClient {
	let undici: Promise<UpstreamClient> | undefined;
	let isClosed = false;
	const viaUndici: UpstreamClient['send'] = async (request) => {
		const client = await (undici ??= loadUndici(options));
		if (isClosed) throw new UpstreamError('provider_unreachable', { cause: new Error('The process is shutting down') });
		return client.send(request);
	};
	const ignore = (): void => undefined;
	const closeUndici = (): void => {
		isClosed = true;
		void undici?.then((client) => client.close(), ignore);
	};
	if (name === 'undici') {
		undici = loadUndici(options);
		undici.catch(ignore);
		return { send: viaUndici, close: closeUndici };
	}
	const native = createUpstreamClient(options);
	return {
		send: (request) => (request.proxy === undefined ? native.send(request) : viaUndici(request)),
		close() {
			native.close();
			closeUndici();
		},
	};
}
