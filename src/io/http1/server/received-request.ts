/** Request and response as an exchange needs them; `node:http` and the fast path both provide them. */
import type { Socket } from 'node:net';
import type { HeaderFields } from '../../../core/handler.ts';

export interface ReceivedRequest {
	readonly socket: Socket;
	readonly method?: string | undefined;
	readonly url?: string | undefined;
	readonly httpVersion: string;
	readonly rawHeaders: readonly string[];
	readonly headers: HeaderFields;
	/** Length of the body, if the header fields do not contain it. */
	readonly announcedLength?: number;
	/** True if the connection has received the same head before, except for the body's length. */
	readonly isRepeated?: boolean;
	/** True if the client asks to close the connection after the response, which the exchange does. */
	readonly isLast?: boolean;
	/** True once every byte of the body has arrived. */
	readonly complete: boolean;
	/** True once every byte of the body has been read or dropped. */
	readonly readableEnded: boolean;
	/** Bytes that have arrived and wait for a reader. */
	readonly readableLength: number;
	/** Trailer fields after the body. */
	readonly rawTrailers: readonly string[];
	/** Returns the whole body if it has arrived and no part of it was read; replaces the events. */
	takeAll?(): Buffer | undefined;
	/** Declares that the `data` listener retains no chunk, so that memory may be lent to it. */
	lendChunks?(): void;
	/** Adding a `data` listener starts the flow, in a later tick. */
	on(event: 'data', listener: (chunk: Buffer) => void): unknown;
	on(event: 'end', listener: () => void): unknown;
	pause(): unknown;
	/** Without a listener, arriving bytes are dropped. */
	resume(): unknown;
}

export interface ResponseWriter {
	/** Null while an earlier response on the same connection is still being written. */
	readonly socket: Socket | null;
	readonly headersSent: boolean;
	/** Bytes that wait for the client. */
	readonly writableLength: number;
	/** @param headers alternating names and values. @throws Error if one of them cannot be written. */
	writeHead(status: number, headers: string[]): unknown;
	flushHeaders(): void;
	writeContinue(): void;
	/** @returns false if the source should pause until `drain`. */
	write(chunk: Buffer | string): boolean;
	end(chunk?: Buffer | string): unknown;
	/** `finish`: the kernel has accepted every byte. */
	on(event: 'finish' | 'drain', listener: () => void): unknown;
}
