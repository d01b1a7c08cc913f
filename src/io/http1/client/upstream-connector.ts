/** Opens the connections of one upstream pool, to allowed addresses only. */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Clock, Timer } from '../../../core/clock.ts';
import { withoutBrackets } from '../../../core/url-host.ts';
import { SocketReads } from '../shared-read-buffer.ts';

/** The host resolves to, or is, an address that this request may not reach. */
export class AddressRejected extends Error {
	override readonly name = 'AddressRejected';
	readonly code = 'ADDRESS_REFUSED';

	constructor(host: string, addresses: readonly string[]) {
		super(`${host} resolves to ${addresses.join(', ')}, which is not a public address: set \`allow_private_network: true\` to allow it`);
	}
}

export class ConnectTimeout extends Error {
	override readonly name = 'ConnectTimeout';
	readonly code = 'CONNECT_TIMEOUT';
}

export interface ConnectorOptions {
	readonly clock: Clock;
	readonly lookup: LookupFunction | undefined;
	/** Undefined if every address is allowed. */
	readonly isAllowedAddress: ((address: string) => boolean) | undefined;
	/** PEM of additional certificate authorities. */
	readonly ca: string | undefined;
}

/** An open connection and the reader of its bytes. */
export interface Opened {
	readonly socket: Socket;
	readonly reads: SocketReads;
}

/** Opens a connection within a time limit and calls back once, later. @returns a function that ends the attempt. */
export type Connect = (limitMs: number, notify: (result: Opened | Error) => void) => () => void;

/** A TLS session is reused for the next connection. */
export function createConnector(origin: string, options: ConnectorOptions): Connect {
	const open = createSocketOpener(origin, options);
	return (limitMs, notify) => {
		const reads = new SocketReads(() => {
			socket?.destroy(new Error('Bytes arrived before any request'));
			return false;
		});
		let socket: Socket | undefined;
		return open(limitMs, { onread: reads }, (result) => {
			if (result instanceof Error) {
				notify(result);
				return;
			}
			socket = result;
			notify({ socket, reads });
		});
	};
}

/** Opens a socket within a time limit and calls back once, later. @returns a function that ends the attempt. */
export type OpenSocket = (limitMs: number, extra: { readonly onread?: OnReadOpts }, notify: (result: Socket | Error) => void) => () => void;

/** Opens sockets to an origin, with TLS for `https:`, to allowed addresses only. */
export function createSocketOpener(origin: string, options: ConnectorOptions): OpenSocket {
	const { clock, isAllowedAddress } = options;
	const { hostname, port, isTls } = positionOf(origin);
	const lookup = guardLookup(options.lookup ?? systemLookup, isAllowedAddress);
	const secure = createTlsOptions(hostname, options.ca);
	return openUnlessRefused(hostname, isAllowedAddress, (limitMs, extra, notify) => {
		const target = { host: hostname, port, lookup, ...extra };
		const socket = isTls ? secure.keepSession(connectTls({ ...target, ...secure.options() })) : connectTcp(target);
		return notifyWhenOpen(socket, isTls ? 'secureConnect' : 'connect', { clock, limitMs, hostname }, notify);
	});
}

export interface Destination {
	/** Host without the brackets of IPv6. */
	readonly hostname: string;
	readonly port: number;
	readonly isTls: boolean;
}

export function positionOf(origin: string): Destination {
	const { protocol, port, hostname } = new URL(origin);
	const isTls = protocol === 'https:';
	return { hostname: withoutBrackets(hostname), port: Number(port || (isTls ? 443 : 80)), isTls };
}

/** Creates TLS options for one host and keeps the latest session for the next connection. */
export function createTlsOptions(
	hostname: string,
	ca: string | undefined,
): { options(): ConnectionOptions; keepSession(socket: TLSSocket): TLSSocket } {
	let session: Buffer | undefined;
	return {
		options: () => ({
			...(isIP(hostname) === 0 && { servername: hostname }),
			...(session && { session }),
			...(ca && { ca }),
			ALPNProtocols: ['http/1.1'],
		}),
		keepSession: (socket) =>
			socket.on('session', (fresh) => {
				session = fresh;
			}),
	};
}

/** Opens nothing if the host is an address that must not be reached. */
export function openUnlessRefused(hostname: string, isAllowedAddress: ConnectorOptions['isAllowedAddress'], open: OpenSocket): OpenSocket {
	if (isAllowedAddress === undefined || isIP(hostname) === 0 || isAllowedAddress(hostname)) return open;
	return (_limitMs, _extra, notify) => {
		queueMicrotask(() => notify(new AddressRejected(hostname, [hostname])));
		return () => undefined;
	};
}

/** Reports only the first result, within the timer's limit. */
export function notifyFirst(timer: Timer, notify: (result: Socket | Error) => void): (result: Socket | Error) => void {
	let isNotified = false;
	return (result) => {
		if (isNotified) return;
		isNotified = true;
		timer.cancel();
		notify(result);
	};
}

/** @returns a function that ends the attempt. */
export function notifyWhenOpen(
	socket: Socket,
	event: 'connect' | 'secureConnect',
	{ clock, limitMs, hostname }: { readonly clock: Clock; readonly limitMs: number; readonly hostname: string },
	notify: (result: Socket | Error) => void,
): () => void {
	socket.setNoDelay(true).setKeepAlive(true, 60_000);
	const timer = clock.after(limitMs, () => socket.destroy(new ConnectTimeout(`Connecting to ${hostname} timed out`)));
	const notifyOnce = notifyFirst(timer, notify);
	// The listener stays: an `error` event without a listener would end the process.
	socket.on('error', notifyOnce);
	socket.once(event, () => notifyOnce(socket));
	return () => socket.destroy(new Error('The connection attempt was abandoned'));
}

/** Wraps a lookup so that it returns allowed addresses only. No packet goes to another address, whatever the name resolves to. */
function guardLookup(lookup: LookupFunction, isAllowedAddress: ((address: string) => boolean) | undefined): LookupFunction {
	if (isAllowedAddress === undefined) return lookup;
	return (hostname, options, callback) => {
		lookup(hostname, { ...options, all: true }, (error, found) => {
			const addresses = Array.isArray(found) ? found : [];
			const allowed = addresses.filter((entry) => isAllowedAddress(entry.address));
			const [first] = allowed;
			if (error !== null) callback(error, []);
			else if (first === undefined) callback(rejected(hostname, addresses), []);
			else if (options.all === true) callback(null, allowed);
			else callback(null, first.address, first.family);
		});
	};
}

function rejected(hostname: string, addresses: readonly LookupAddress[]): AddressRejected {
	return new AddressRejected(
		hostname,
		addresses.map((entry) => entry.address),
	);
}
