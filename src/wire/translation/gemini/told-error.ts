import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { numberOf } from '../read-json.ts';
import { toldMessageOf } from '../told-message.ts';

/** What an error of Google's says. */
export interface ToldError {
	/** Decides the error's type: 502 unless the client itself is at fault. */
	readonly status: number;
	readonly message: string;
	/** Google's word, such as `RESOURCE_EXHAUSTED`; empty for none. */
	readonly word: string;
	/** Rounded up. */
	readonly retryAfterSeconds: number | undefined;
	readonly isKeyRejected: boolean;
	readonly isTooLong: boolean;
}

/** @param status of the answer, or 200 for an error inside a stream. @param body `{"error": ...}`; undefined when it is no JSON. */
export function toldError(status: number, body: JsonObject | undefined): ToldError {
	const error = isJsonObject(body?.error) ? body.error : {};
	const details = Array.isArray(error.details) ? error.details.filter(isJsonObject) : [];
	const told = status === 200 ? numberOf(error.code) || 500 : status;
	const isKeyRejected = told === 401 || told === 403 || details.some(({ reason }) => reason === 'API_KEY_INVALID');
	const message = toldMessageOf(body) || `The provider answered ${told} without a message`;
	return {
		status: isKeyRejected || told < 400 || told >= 500 || told === 404 ? 502 : told,
		message,
		word: !isKeyRejected && typeof error.status === 'string' ? error.status : '',
		retryAfterSeconds: retrySeconds(details),
		isKeyRejected,
		isTooLong: told === 400 && /exceeds the maximum number of tokens|input token count/i.test(message),
	};
}

/** `google.rpc.RetryInfo`, whose delay is written like `34.4s`. */
function retrySeconds(details: readonly JsonObject[]): number | undefined {
	const delay = details.find(({ retryDelay }) => typeof retryDelay === 'string')?.retryDelay;
	const seconds = typeof delay === 'string' ? Number(/^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1]) : Number.NaN;
	return Number.isNaN(seconds) ? undefined : Math.ceil(seconds);
}
