/** A usage or configuration error (1), a runtime failure (2), or an unusable token answer (3). Its message is all that the user sees. */
export class CommandFailure extends Error {
	override readonly name: string = 'CommandFailure';
	readonly exitCode: 1 | 2 | 3;

	constructor(exitCode: 1 | 2 | 3, message: string) {
		super(message);
		this.exitCode = exitCode;
	}
}
