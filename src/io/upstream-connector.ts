/** Opens the connections of one upstream pool, to allowed addresses only. */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import type { Clock } from '../core/clock.ts';

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
	readonly connectMs: () => number;
	/**
	 * Whether a call waits for a connection. undici 7.30 makes one for every call that was aborted while it was answered,
	 * so that clients who leave would become handshakes with the provider. To be deleted when it no longer does.
	 */
	readonly isWanted: () => boolean;
	/** PEM of further certificate authorities. */
	readonly ca: string | undefined;
}

/** For undici's `connect` option. A TLS session is kept for the next connection. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
	const { clock, isAllowedAddress, ca } = options;
	const lookup = guardLookup(options.lookup ?? systemLookup, isAllowedAddress);
	let session: Buffer | undefined;
	return ({ hostname, protocol, port, servername }, callback) => {
		if (!options.isWanted()) {
			queueMicrotask(() => callback(new Error('No call waits for a connection'), null));
			return;
		}
		if (isAllowedAddress !== undefined && isIP(hostname) !== 0 && !isAllowedAddress(hostname)) {
			queueMicrotask(() => callback(new AddressRefused(hostname, [hostname]), null));
			return;
		}
		const isTls = protocol === 'https:';
		const target = { host: hostname, port: Number(port || (isTls ? 443 : 80)), lookup };
		const socket: Socket = isTls
			? connectTls({
					...target,
					...(isIP(hostname) === 0 && { servername: servername ?? hostname }),
					...(session && { session }),
					...(ca && { ca }),
					ALPNProtocols: ['http/1.1'],
				}).on('session', (fresh) => {
					session = fresh;
				})
			: connectTcp(target);
		socket.setNoDelay(true).setKeepAlive(true, 60_000);
		const timer = clock.after(options.connectMs(), () => socket.destroy(new ConnectTimeout(`No connection to ${hostname} in time`)));
		// Stays for good: an error that nobody listens to would end the process.
		let isTold = false;
		const tell = (...outcome: Parameters<typeof callback>): void => {
			if (isTold) return;
			isTold = true;
			timer.cancel();
			callback(...outcome);
		};
		socket.on('error', (error) => tell(error, null));
		socket.once(isTls ? 'secureConnect' : 'connect', () => tell(null, socket));
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
