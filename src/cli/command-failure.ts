/** A usage or configuration error (1), a runtime failure (2), or an unusable token response (3). The user sees only its message. */
export class CommandFailure extends Error {
	override readonly name: string = 'CommandFailure';
	readonly exitCode: 1 | 2 | 3;

	constructor(exitCode: 1 | 2 | 3, message: string) {
		super(message);
		this.exitCode = exitCode;
	}
}

/** 2: no connection, timeout or a status other than 200. 3: a response without a usable token. Messages contain no text of the response. */
export class TokenRequestFailure extends CommandFailure {
	override readonly name = 'TokenRequestFailure';
	/** True if the endpoint is down; false if it rejected the request. */
	readonly isOutage: boolean;

	constructor(exitCode: 2 | 3, message: string, isOutage: boolean) {
		super(exitCode, message);
		this.isOutage = isOutage;
	}
}
