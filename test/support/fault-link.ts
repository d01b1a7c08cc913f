/** TCP link to a port on loopback, with all faults that links have. */
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export const linkFaults = ['latency', 'trickle', 'stall', 'reset', 'cut', 'refused'] as const;

export type LinkFault = (typeof linkFaults)[number];

export interface FaultLink {
	readonly port: number;
	/** Replaces the current fault until `heal`. @param ms delay that `latency` adds to each piece. */
	break(fault: LinkFault, ms: number): Promise<void>;
	heal(): Promise<void>;
	close(): Promise<void>;
}

/** Bytes of a piece that trickle. The rest follows at once, because a megabyte would take half an hour. */
const trickledBytes = 40;

export async function openFaultLink(targetPort: number): Promise<FaultLink> {
	let fault: LinkFault | undefined;
	let latencyMs = 0;
	let healed = Promise.resolve();
	let notifyHealed = (): void => undefined;
	const pairs = new Set<readonly [near: Socket, far: Socket]>();

	const pass = async (from: Socket, to: Socket): Promise<void> => {
		for await (const piece of from as AsyncIterable<Buffer>) {
			if (fault === 'stall') await healed;
			if (fault === 'latency') await sleep(latencyMs);
			if (fault === 'trickle') await trickle(piece, to);
			else if (!to.write(piece)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
		}
		to.end();
	};
	const join = (near: Socket): void => {
		const far = createConnection({ host: '127.0.0.1', port: targetPort, noDelay: true });
		const pair = [near, far] as const;
		pairs.add(pair);
		const drop = (): void => {
			pairs.delete(pair);
			for (const socket of pair) socket.destroy();
		};
		for (const [from, to] of [pair, [far, near] as const]) {
			from.on('error', drop);
			from.on('close', drop);
			void pass(from, to).catch(drop);
		}
		if (fault === 'reset') reset(pair);
	};
	const dropAll = (how: (pair: readonly [Socket, Socket]) => void): void => {
		for (const pair of pairs) how(pair);
	};

	let server = await listen(join, 0);
	const { port } = server.address() as AddressInfo;
	const heal = async (): Promise<void> => {
		fault = undefined;
		notifyHealed();
		if (!server.listening) server = await listen(join, port);
	};
	return {
		port,
		heal,
		async break(next, ms) {
			await heal();
			fault = next;
			latencyMs = ms;
			healed = new Promise((resolve) => (notifyHealed = resolve));
			if (next === 'reset') dropAll(reset);
			if (next === 'cut' || next === 'refused') dropAll(([near, far]) => void [near.destroy(), far.destroy()]);
			if (next === 'refused') await shut(server);
		},
		async close() {
			notifyHealed();
			dropAll(([near, far]) => void [near.destroy(), far.destroy()]);
			if (server.listening) await shut(server);
		},
	};
}

async function trickle(piece: Buffer, to: Socket): Promise<void> {
	for (const byte of piece.subarray(0, trickledBytes)) {
		to.write(Buffer.of(byte));
		await sleep(1);
	}
	if (piece.length > trickledBytes) to.write(piece.subarray(trickledBytes));
}

function reset([near, far]: readonly [Socket, Socket]): void {
	near.resetAndDestroy();
	far.resetAndDestroy();
}

async function listen(join: (near: Socket) => void, port: number): Promise<Server> {
	const server = createServer({ noDelay: true }, join);
	server.listen(port, '127.0.0.1');
	await once(server, 'listening');
	return server;
}

async function shut(server: Server): Promise<void> {
	server.close();
	if (server.listening) await once(server, 'close');
}
