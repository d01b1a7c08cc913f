/** Product whose providers fail in every way, after a short time. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { freePort } from '../support/product.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.ts';
import { type Subject, useSubject } from './subject.ts';

/** API key that the providers accept. */
export const apiKey = 'sk-proj-conformance-0123456789abcdef';

export const shortTimeouts = { connect_ms: 500, first_byte_ms: 700, idle_ms: 700, total_ms: 1500 };

export interface FaultySubject {
	readonly current: Subject;
	/** Server that accepts every request: target of redirects that must not be followed. */
	readonly elsewhere: { readonly url: string; readonly requests: number };
}

/** Adds providers to the simulator's: `unset-`, `down-` and `mute-`, each for `chat`, `messages` and `responses`. */
export function useFaultySubject(): FaultySubject {
	let mute: ScriptedServer;
	let closedPort = 0;
	let server: Server;
	const elsewhere = { url: '', requests: 0 };
	beforeAll(async () => {
		mute = await startScriptedServer();
		server = createServer((_request, response) => {
			elsewhere.requests++;
			response.setHeader('content-type', 'application/json').end('{"object":"chat.completion","type":"message"}');
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		elsewhere.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		closedPort = await freePort();
	});
	afterAll(async () => {
		await mute.close();
		server.closeAllConnections();
		await new Promise((resolve) => server.close(resolve));
	});

	const subject = useSubject((simulatorUrl) => ({
		gateway: { timeouts: shortTimeouts },
		providers: {
			provider_a: { api_key: apiKey },
			provider_b: { api_key: apiKey },
			...ofEachFormat('unset', simulatorUrl, 'REPLACE_ME'),
			...ofEachFormat('down', `http://127.0.0.1:${closedPort}`, apiKey),
			// Server that accepts connections and never sends a byte, so the TLS handshake does not complete.
			...ofEachFormat('mute', `https://127.0.0.1:${mute.port}`, apiKey),
		},
	}));
	return {
		elsewhere,
		get current() {
			return subject.current;
		},
	};
}

function ofEachFormat(name: string, origin: string, key: string): Record<string, object> {
	return {
		[`${name}-chat`]: { kind: 'openai', base_url: `${origin}/openai/v1`, api_key: key, allow_private_network: true },
		[`${name}-responses`]: { kind: 'openai', base_url: `${origin}/openai/v1`, api_key: key, allow_private_network: true },
		[`${name}-messages`]: { kind: 'anthropic', base_url: `${origin}/anthropic`, api_key: key, allow_private_network: true },
	};
}
