/** Sources of key sets: a URL, or the issuer's discovery document (OpenID Connect Discovery 1.0 section 4). */
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { http } from './node-http.ts';

export interface KeySetSource {
	/** Reads the key set document as parsed JSON, within its own time limit. */
	read(): Promise<unknown>;
	/** Runs `listener` when the key set may have changed. @returns a function that removes it. */
	onChange?(listener: () => void): () => void;
}

export interface RemoteKeySetSettings {
	readonly issuer: string;
	/** Null to use the issuer's discovery document. */
	readonly jwksUri: string | null;
	readonly timeoutMs: number;
}

/** Fetches a JSON document. @throws Error that names the problem. */
export type GetJson = (url: string, timeoutMs: number) => Promise<unknown>;

export function remoteKeySet({ issuer, jwksUri, timeoutMs }: RemoteKeySetSettings, getJson: GetJson = fetchJson): KeySetSource {
	let discovered: string | undefined;
	return {
		async read() {
			const address = jwksUri ?? (discovered ??= await discover(issuer, timeoutMs, getJson));
			try {
				return await getJson(address, timeoutMs);
			} catch (cause) {
				// The key set may have moved: the next read runs the discovery again.
				discovered = undefined;
				throw cause;
			}
		},
	};
}

async function discover(issuer: string, timeoutMs: number, getJson: GetJson): Promise<string> {
	const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
	const document = await getJson(url, timeoutMs);
	const { issuer: named, jwks_uri: address } = (document ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
	if (named !== issuer) throw new Error(`${url} names another issuer`);
	if (typeof address !== 'string' || !URL.canParse(address)) throw new Error(`${url} has no valid jwks_uri`);
	const { protocol } = new URL(address);
	const isSafe = protocol === 'https:' || (protocol === 'http:' && issuer.startsWith('http:'));
	if (!isSafe) throw new Error(`${url} names a jwks_uri that is not https`);
	return address;
}

const maxBytes = 153_600;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Follows no redirects and reads at most 150 KB. */
export async function fetchJson(url: string, timeoutMs: number): Promise<unknown> {
	const signal = AbortSignal.timeout(timeoutMs);
	let bytes: Buffer;
	try {
		bytes = await fetchBytes(url, signal);
	} catch (cause) {
		throw signal.aborted ? new Error(`${url} timed out after ${timeoutMs} ms`, { cause }) : cause;
	}
	try {
		return JSON.parse(decoder.decode(bytes)) as unknown;
	} catch (cause) {
		throw new Error(`${url} did not return JSON`, { cause });
	}
}

async function fetchBytes(url: string, signal: AbortSignal): Promise<Buffer> {
	const response = await get(url, signal);
	if (response.statusCode !== 200) {
		// Destroying an unread response emits an error, which has no other listener.
		response.on('error', () => undefined).destroy();
		throw new Error(`${url} returned ${response.statusCode}`);
	}
	const pieces: Buffer[] = [];
	let length = 0;
	for await (const piece of response as AsyncIterable<Buffer>) {
		length += piece.length;
		if (length > maxBytes) throw new Error(`${url} returned more than ${maxBytes} bytes`);
		pieces.push(piece);
	}
	return Buffer.concat(pieces);
}

function get(url: string, signal: AbortSignal): Promise<IncomingMessage> {
	const { get: send } = url.startsWith('https:') ? https : http;
	return new Promise((resolve, reject) => {
		send(url, { signal, headers: { accept: 'application/json' } }, resolve).on('error', reject);
	});
}
