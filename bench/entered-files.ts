/**
 * `node bench/entered-files.ts`: files of `src/` that one warm stream enters with guardrails and translation: the client uses chat
 * completions, the provider messages, and the guardrails block. The product runs in its own process. V8 counts function calls (precise
 * coverage), and the count excludes everything before the stream.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, freePort, startProduct } from '../test/support/product.ts';

/** Fields of the result of `Profiler.takePreciseCoverage` that this script reads. */
interface Coverage {
	readonly result: readonly {
		readonly url: string;
		readonly functions: readonly { readonly functionName: string; readonly ranges: readonly { readonly count: number }[] }[];
	}[];
}

interface Inspector {
	send(method: string, params?: object): Promise<unknown>;
	disconnect(): void;
}

const warmStreams = 20;
/** Ledger entries and settlements of a stream may be written after it ends. */
const quietMs = 1500;
const root = new URL('../src/', import.meta.url).href;

const inspectorPort = await freePort();
const product = await startProduct(
	{ enable_guardrails: true, enforce_guardrails: true },
	{ NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` },
);
try {
	const { send, disconnect } = await connect();
	await send('Profiler.enable');
	await send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
	const token = await product.accessToken();
	for (let stream = 0; stream < warmStreams; stream++) await readStream(token);
	await sleep(quietMs);
	await takeFiles();
	await sleep(quietMs);
	const idle = await takeFiles();
	await readStream(token);
	const during = await takeFiles();
	await sleep(quietMs);
	const after = await takeFiles();
	// Disconnects first, because the product does not exit while a debugger is connected.
	disconnect();
	print(during);
	console.log(`\nIn ${quietMs / 1000} s without requests: ${idle.length} files. In the same time after the stream, in addition to it:`);
	for (const file of after) if (!during.includes(file) && !idle.includes(file)) console.log(`  ${file}`);

	async function takeFiles(): Promise<readonly string[]> {
		const { result } = (await send('Profiler.takePreciseCoverage')) as Coverage;
		return result
			.filter(({ url, functions }) => url.startsWith(root) && functions.some(({ ranges: [whole] }) => (whole?.count ?? 0) > 0))
			.map(({ url }) => url.slice(root.length))
			.toSorted();
	}
} finally {
	await product.stop();
}

function print(files: readonly string[]): void {
	const folders = Map.groupBy(files, (file) =>
		file
			.split('/')
			.slice(0, file.startsWith('roles/') ? 2 : 1)
			.join('/'),
	);
	console.log(`${files.length} files entered by one warm stream\n`);
	for (const [folder, members] of folders) {
		console.log(`${folder}: ${members.length}`);
		for (const file of members) console.log(`  ${file}`);
	}
}

/** Sends commands of the DevTools protocol to the product. */
async function connect(): Promise<Inspector> {
	const url = await eventually('the inspector', async () => {
		const response = await fetch(`http://127.0.0.1:${inspectorPort}/json/list`).catch(() => undefined);
		const [target] = ((await response?.json()) ?? []) as { webSocketDebuggerUrl: string }[];
		return target?.webSocketDebuggerUrl;
	});
	const socket = new WebSocket(url);
	const waiting = new Map<number, (result: unknown) => void>();
	let last = 0;
	socket.addEventListener('message', ({ data }) => {
		const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
		if (id !== undefined) waiting.get(id)?.(result);
	});
	await new Promise((resolve, reject) => {
		socket.addEventListener('open', resolve);
		socket.addEventListener('error', reject);
	});
	return {
		send: (method, params = {}) =>
			new Promise((resolve) => {
				waiting.set(++last, resolve);
				socket.send(JSON.stringify({ id: last, method, params }));
			}),
		disconnect: () => socket.close(),
	};
}

async function readStream(token: string): Promise<void> {
	const response = await fetch(`${product.gatewayUrl}/v1/chat/completions`, {
		method: 'POST',
		headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
		body: JSON.stringify({ model: 'claude-sonnet-5', stream: true, messages: [{ role: 'user', content: 'Say hello.' }] }),
	});
	const text = await response.text();
	if (!text.endsWith('data: [DONE]\n\n')) throw new Error(`${response.status}: the stream did not end: ${text.slice(-300)}`);
}
