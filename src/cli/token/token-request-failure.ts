import { CommandFailure } from '../command-failure.ts';

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
