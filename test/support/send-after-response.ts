import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from './until.ts';

/**
 * Sends a head that is too large, and more of it after the response, as a client does that has not read the response yet.
 * @returns received text, and the code of the error if the server reset the connection.
 */
export async function sendAfterResponse(port: number): Promise<{ readonly received: string; readonly error: string | undefined }> {
	const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
	let received = '';
	let error: string | undefined;
	socket.setEncoding('utf8').on('data', (piece: string) => {
		received += piece;
	});
	socket.on('error', (cause: NodeJS.ErrnoException) => {
		error = cause.code;
	});
	let hasEnded = false;
	socket.once('end', () => {
		hasEnded = true;
	});
	socket.write(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(40_000)}`);
	await until(() => hasEnded || error !== undefined, 'the end of the response');
	for (let piece = 0; piece < 3 && error === undefined; piece++) {
		socket.write('x'.repeat(100_000));
		await new Promise((resolve) => setTimeout(resolve, 30));
	}
	socket.end();
	if (!socket.closed) await once(socket, 'close');
	return { received, error };
}
