/** TCP server that responds byte by byte as the test scripts it, and records received bytes. */
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface ScriptedServer {
	readonly port: number;
	readonly origin: string;
	/** Connections, in order. */
	readonly connections: ScriptedConnection[];
	close(): Promise<void>;
}

export class ScriptedConnection {
	readonly socket: Socket;
	received = '';
	isClosed = false;

	constructor(socket: Socket) {
		this.socket = socket;
		socket.setNoDelay(true);
		socket.on('data', (chunk: Buffer) => {
			this.received += chunk.toString('latin1');
		});
		socket.on('error', () => undefined);
		socket.on('close', () => {
			this.isClosed = true;
		});
	}

	send(bytes: string | Buffer): void {
		this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
	}
}

/** Starts the server; `script` runs for each piece that arrives. */
export async function startScriptedServer(script: (connection: ScriptedConnection) => void = () => undefined): Promise<ScriptedServer> {
	const connections: ScriptedConnection[] = [];
	const server = createServer((socket) => {
		const connection = new ScriptedConnection(socket);
		connections.push(connection);
		socket.on('data', () => script(connection));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return {
		port,
		origin: `http://127.0.0.1:${port}`,
		connections,
		async close() {
			for (const { socket } of connections) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
