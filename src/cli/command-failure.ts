/** A usage or configuration error (1), a runtime failure (2), or an unusable token answer (3). Its message is all that the user sees. */
export class CommandFailure extends Error {
	override readonly name: string = 'CommandFailure';
	readonly exitCode: 1 | 2 | 3;

	constructor(exitCode: 1 | 2 | 3, message: string) {
		super(message);
		this.exitCode = exitCode;
	}
}

/** 2: no connection, timeout or a status other than 200. 3: an answer without a usable token. Messages hold no text of the answer. */
export class TokenRequestFailure extends CommandFailure {
	override readonly name = 'TokenRequestFailure';
	/** The endpoint is down, rather than having refused us. */
	readonly isOutage: boolean;

	constructor(exitCode: 2 | 3, message: string, isOutage: boolean) {
		super(exitCode, message);
		this.isOutage = isOutage;
	}
}
