/** Opens the connections of one upstream pool, to allowed addresses only. */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../../core/clock.ts';
import { SocketReads } from '../shared-read-buffer.ts';

/** The name leads to addresses that this request may not reach, or is itself such an address. */
export class AddressRefused extends Error {
	override readonly name = 'AddressRefused';
	readonly code = 'ADDRESS_REFUSED';

	constructor(host: string, addresses: readonly string[]) {
		super(`${host} leads to ${addresses.join(', ')}, which is not a public address; see \`allow_private_network\``);
	}
}

export class ConnectTimeout extends Error {
	override readonly name = 'ConnectTimeout';
	readonly code = 'CONNECT_TIMEOUT';
}

export interface ConnectorOptions {
	readonly clock: Clock;
	readonly lookup: LookupFunction | undefined;
	/** Undefined when every address is allowed. */
	readonly isAllowedAddress: ((address: string) => boolean) | undefined;
	/** PEM of further certificate authorities. */
	readonly ca: string | undefined;
}

/** A connection that has been opened, and what it reads from then on. */
export interface Opened {
	readonly socket: Socket;
	readonly reads: SocketReads;
}

/** Opens a connection within a time limit, and calls back once, later. @returns what ends the attempt. */
export type Connect = (limitMs: number, tell: (result: Opened | Error) => void) => () => void;

/** A TLS session is kept for the next connection. */
export function createConnector(origin: string, options: ConnectorOptions): Connect {
	const { clock, isAllowedAddress, ca } = options;
	const { protocol, port, hostname: host } = new URL(origin);
	const hostname = host.replace(/^\[(.*)\]$/, '$1');
	const lookup = guardLookup(options.lookup ?? systemLookup, isAllowedAddress);
	let session: Buffer | undefined;
	return (limitMs, tell) => {
		if (isAllowedAddress !== undefined && isIP(hostname) !== 0 && !isAllowedAddress(hostname)) {
			queueMicrotask(() => tell(new AddressRefused(hostname, [hostname])));
			return () => undefined;
		}
		const isTls = protocol === 'https:';
		const reads = new SocketReads(() => {
			socket.destroy(new Error('Bytes came before any request'));
			return false;
		});
		const target = { host: hostname, port: Number(port || (isTls ? 443 : 80)), lookup, onread: reads };
		const socket: Socket = isTls
			? connectTls({
					...target,
					...(isIP(hostname) === 0 && { servername: hostname }),
					...(session && { session }),
					...(ca && { ca }),
					ALPNProtocols: ['http/1.1'],
				}).on('session', (fresh) => {
					session = fresh;
				})
			: connectTcp(target);
		socket.setNoDelay(true).setKeepAlive(true, 60_000);
		const timer = clock.after(limitMs, () => socket.destroy(new ConnectTimeout(`No connection to ${hostname} in time`)));
		// Stays for good: an error that nobody listens to would end the process.
		let isTold = false;
		const tellOnce = (result: Opened | Error): void => {
			if (isTold) return;
			isTold = true;
			timer.cancel();
			tell(result);
		};
		socket.on('error', tellOnce);
		socket.once(isTls ? 'secureConnect' : 'connect', () => tellOnce({ socket, reads }));
		return () => socket.destroy(new Error('Nobody waits for this connection any more'));
	};
}

/** A lookup that gives allowed addresses only, so that no packet leaves for another, whatever the name resolves to today. */
function guardLookup(lookup: LookupFunction, isAllowedAddress: ((address: string) => boolean) | undefined): LookupFunction {
	if (isAllowedAddress === undefined) return lookup;
	return (hostname, options, callback) => {
		lookup(hostname, { ...options, all: true }, (error, found) => {
			const addresses = Array.isArray(found) ? found : [];
			const allowed = addresses.filter((entry) => isAllowedAddress(entry.address));
			const [first] = allowed;
			if (error !== null) callback(error, []);
			else if (first === undefined) callback(refused(hostname, addresses), []);
			else if (options.all === true) callback(null, allowed);
			else callback(null, first.address, first.family);
		});
	};
}

function refused(hostname: string, addresses: readonly LookupAddress[]): AddressRefused {
	return new AddressRefused(
		hostname,
		addresses.map((entry) => entry.address),
	);
}
