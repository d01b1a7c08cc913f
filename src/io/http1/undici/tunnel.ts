/** Opens connections through an HTTP proxy by CONNECT (RFC 9110 section 9.3.6), with TLS to the origin inside. */
import https from 'node:https';
import { connect as connectTls } from 'node:tls';
import type { UpstreamProxy } from '../../../core/upstream.ts';
import { withBrackets } from '../../../core/url-host.ts';
import { http } from '../../node-http.ts';
import {
	type ConnectorOptions,
	ConnectTimeout,
	createTlsOptions,
	notifyFirst,
	notifyWhenOpen,
	type OpenSocket,
	openUnlessRefused,
	positionOf,
} from '../client/upstream-connector.ts';

/** The proxy rejects the tunnel or requires other credentials. The message contains no credentials. */
export class ProxyRejected extends Error {
	override readonly name = 'ProxyRejected';
	readonly code = 'PROXY_REJECTED';

	constructor(proxy: UpstreamProxy, target: string, status: number) {
		super(`The proxy ${proxy.origin} returned ${status} for ${target}${status === 407 ? '; check the credentials in its URL' : ''}`);
	}
}

/**
 * The proxy resolves the origin's name, so only a literal address in place of a name can be checked here. The proxy itself may have any
 * address, because the operator configures it.
 */
export function createTunnelOpener(origin: string, proxy: UpstreamProxy, options: ConnectorOptions): OpenSocket {
	const { clock, isAllowedAddress, lookup, ca } = options;
	const { hostname, port } = positionOf(origin);
	const authority = `${withBrackets(hostname)}:${port}`;
	const secure = createTlsOptions(hostname, ca);
	return openUnlessRefused(hostname, isAllowedAddress, (limitMs, _extra, notify) => {
		const startMs = clock.monotonicMs();
		let cancel = (): void => void connecting.destroy(new Error('The connection attempt was abandoned'));
		const { hostname: host, port: proxyPort, isTls } = positionOf(proxy.origin);
		const connecting = (isTls ? https : http).request({
			host,
			port: proxyPort,
			method: 'CONNECT',
			path: authority,
			agent: false,
			headers: { host: authority, ...(proxy.authorization !== undefined && { 'proxy-authorization': proxy.authorization }) },
			...(lookup !== undefined && { lookup }),
			...(isTls && ca !== undefined && { ca }),
		});
		const timer = clock.after(limitMs, () => connecting.destroy(new ConnectTimeout(`Connecting through ${proxy.origin} timed out`)));
		const notifyOnce = notifyFirst(timer, notify);
		connecting.on('error', notifyOnce);
		connecting.on('connect', ({ statusCode = 0 }, tunnel, early) => {
			timer.cancel();
			// The listener stays: an `error` event without a listener would end the process.
			tunnel.on('error', notifyOnce);
			if (statusCode < 200 || statusCode > 299 || early.length > 0) {
				tunnel.destroy();
				notifyOnce(
					early.length > 0 && statusCode < 300
						? new Error('Bytes arrived before any request')
						: new ProxyRejected(proxy, authority, statusCode),
				);
				return;
			}
			const remainingMs = Math.max(1, startMs + limitMs - clock.monotonicMs());
			// Without the host, TLS would compare the certificate of an origin given as an address with the name of the proxy.
			const socket = secure.keepSession(connectTls({ socket: tunnel, host: hostname, ...secure.options() }));
			cancel = notifyWhenOpen(socket, 'secureConnect', { clock, limitMs: remainingMs, hostname }, notifyOnce);
		});
		connecting.end();
		return () => cancel();
	});
}
