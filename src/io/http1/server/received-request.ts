/** What an exchange needs of a request and of the means to answer it: `node:http` has it, and so has the fast path. */
import type { Socket } from 'node:net';
import type { HeaderFields } from '../../../core/handler.ts';

export interface ReceivedRequest {
	readonly socket: Socket;
	readonly method?: string | undefined;
	readonly url?: string | undefined;
	readonly httpVersion: string;
	readonly rawHeaders: readonly string[];
	readonly headers: HeaderFields;
	/** Of the body, where the fields do not say it. */
	readonly announcedLength?: number;
	/** True: its connection has had this very head before, but for the length of the body. */
	readonly isRepeated?: boolean;
	/** True: the client wants the connection to end with the answer, which is left to the exchange. */
	readonly isLast?: boolean;
	/** Every byte of the body has arrived. */
	readonly complete: boolean;
	/** Every byte of the body has been read or dropped. */
	readonly readableEnded: boolean;
	/** Bytes that have arrived and wait for a reader. */
	readonly readableLength: number;
	/** Of fields after the body. */
	readonly rawTrailers: readonly string[];
	/** The whole body, where it has arrived and nobody has read of it; in place of the events. */
	takeWhole?(): Buffer | undefined;
	/** The listener to `data` keeps no chunk: memory may be lent to it. */
	lendChunks?(): void;
	/** Whoever listens to `data` starts the flow, in a later turn. */
	on(event: 'data', listener: (chunk: Buffer) => void): unknown;
	on(event: 'end', listener: () => void): unknown;
	pause(): unknown;
	/** Without a listener, what comes is dropped. */
	resume(): unknown;
}

export interface ResponseWriter {
	/** Null while an earlier answer on the same connection is still being taken. */
	readonly socket: Socket | null;
	readonly headersSent: boolean;
	/** Bytes that wait for the client. */
	readonly writableLength: number;
	/** @param headers names and values in turn. @throws Error when one cannot be written. */
	writeHead(status: number, headers: string[]): unknown;
	flushHeaders(): void;
	writeContinue(): void;
	/** @returns false when what waits is worth a pause until `drain`. */
	write(chunk: Buffer | string): boolean;
	end(chunk?: Buffer | string): unknown;
	/** `finish`: the system has taken every byte. */
	on(event: 'finish' | 'drain', listener: () => void): unknown;
}
