import { Rejection } from '../../core/rejection.ts';

/** @param reason for the operator's log (`cause`); the client only learns that the access token is not accepted. */
export function invalidToken(reason: string): Rejection {
	return new Rejection('token_invalid', { cause: reason });
}
