/** AWS Signature Version 4, limited to a POST with JSON. */
import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
	readonly region: string;
	readonly accessKeyId: string;
	readonly secretAccessKey: string;
	/** Session token of temporary credentials. */
	readonly sessionToken: string | null;
}

export interface SignedRequest {
	readonly method: string;
	readonly host: string;
	/** Path with query, encoded as it is sent. */
	readonly target: string;
	/** Header fields by lower-case name; all of them are signed. */
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
}

/** @returns the header fields to add to the request. */
export function signAwsRequest(
	request: SignedRequest,
	service: string,
	credentials: AwsCredentials,
	nowMs: number,
): Readonly<Record<string, string>> {
	const { region, accessKeyId, secretAccessKey, sessionToken } = credentials;
	const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
	const day = time.slice(0, 8);
	const added = { 'x-amz-date': time, ...(sessionToken !== null && { 'x-amz-security-token': sessionToken }) };
	const signed: Record<string, string> = { ...request.headers, host: request.host, ...added };
	const names = Object.keys(signed).toSorted();
	const [path = '', query = ''] = request.target.split('?');
	const canonical = [
		request.method,
		// Path segments are encoded twice; only S3 signs them as sent.
		path.split('/').map(encodeStrictly).join('/'),
		query.split('&').toSorted().join('&'),
		...names.map((name) => `${name}:${signed[name]?.trim().replaceAll(/ +/g, ' ')}`),
		'',
		names.join(';'),
		sha256(request.body),
	].join('\n');
	const scope = `${day}/${region}/${service}/aws4_request`;
	const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
	const key = [day, region, service, 'aws4_request'].reduce<Buffer>(
		(secret, part) => hmac(secret, part),
		Buffer.from(`AWS4${secretAccessKey}`),
	);
	const signature = hmac(key, toSign).toString('hex');
	return {
		...added,
		authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
	};
}

function encodeStrictly(segment: string): string {
	return encodeURIComponent(segment).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(text: string): string {
	return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
	return createHmac('sha256', key).update(text).digest();
}
