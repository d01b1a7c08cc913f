import type { CliOutput } from './environment.ts';

/** A standard stream as an output. A reader that has gone (`head`, a closed pager) is not an error. */
export function outputOf(stream: NodeJS.WriteStream): CliOutput {
	// Each failure is also given to the write it belongs to; without a listener it would end the process.
	stream.on('error', () => undefined);
	return {
		isTty: stream.isTTY,
		write: (text) =>
			new Promise((resolve, reject) => {
				stream.write(text, (error) => (error && !isReaderGone(error) ? reject(error) : resolve()));
			}),
	};
}

function isReaderGone(error: Error): boolean {
	return 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');
}
