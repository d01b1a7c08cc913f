/** Chooses the client for each upstream request: the native one, or undici where the configuration or a proxy asks for it. */
import { Fault } from '../../core/fault.ts';
import { createUpstreamClient, type UpstreamClient, type UpstreamClientOptions } from './client/upstream-client.ts';

export type HttpClientName = 'native' | 'undici';

/** Undici is loaded when it is first needed: it costs a start more than everything else of the data plane's client. */
export function createHttpClient(name: HttpClientName, options: UpstreamClientOptions): UpstreamClient {
	let undici: Promise<UpstreamClient> | undefined;
	let isClosed = false;
	const loadUndici = async (): Promise<UpstreamClient> => {
		const { createUndiciClient } = await import('./undici/undici-client.ts');
		return createUndiciClient(options);
	};
	const viaUndici: UpstreamClient['send'] = async (request) => {
		const client = await (undici ??= loadUndici());
		if (isClosed) throw new Fault('provider_unreachable', { cause: new Error('The process is stopping') });
		return client.send(request);
	};
	const closeUndici = (): void => {
		isClosed = true;
		void undici?.then((client) => client.close());
	};
	if (name === 'undici') {
		undici = loadUndici();
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
