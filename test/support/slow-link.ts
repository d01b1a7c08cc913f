import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

export interface SlowLink {
	readonly port: number;
	/** Number of pieces sent to the target so far; bytes sent together are one piece. */
	readonly pieces: number;
	/** Delays each piece that returns, from now on. */
	setDelay(ms: number): void;
	/** Drops every connection; new ones are accepted. */
	cut(): void;
	close(): Promise<void>;
}

/** TCP link to a port on loopback that delays responses. */
export async function openSlowLink(targetPort: number): Promise<SlowLink> {
	let delayMs = 0;
	let pieces = 0;
	const sockets = new Set<Socket>();
	const server = createServer((near) => {
		const far = createConnection({ host: '127.0.0.1', port: targetPort });
		for (const socket of [near, far]) {
			sockets.add(socket);
			socket.on('error', () => undefined);
			socket.on('close', () => {
				sockets.delete(socket);
				near.destroy();
				far.destroy();
			});
		}
		near.on('data', (piece) => {
			pieces++;
			far.write(piece);
		});
		far.on('data', (piece) => {
			if (delayMs === 0) near.write(piece);
			else setTimeout(() => near.write(piece), delayMs);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const cut = (): void => {
		for (const socket of sockets) socket.destroy();
	};
	return {
		port: (server.address() as AddressInfo).port,
		get pieces() {
			return pieces;
		},
		setDelay: (ms) => (delayMs = ms),
		cut,
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				cut();
			}),
	};
}
