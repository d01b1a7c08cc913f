/**
 * Thrown by a handler, or given to `ByteSink.fail`: the server destroys the connection at once, with no further
 * byte. Thrown before an answer exists, the client sees a reset instead of a status line.
 */
export class ConnectionReset extends Error {
	override readonly name = 'ConnectionReset';

	constructor(message = 'The connection is to be destroyed without an answer') {
		super(message);
	}
}
