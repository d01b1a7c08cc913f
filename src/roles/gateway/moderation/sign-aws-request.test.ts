import { expect, test } from 'vitest';
import { signAwsRequest } from './sign-aws-request.ts';

const credentials = {
	region: 'us-east-1',
	accessKeyId: 'AKIDEXAMPLE',
	secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
	sessionToken: null,
};
const nowMs = Date.UTC(2015, 7, 30, 12, 36);

test('signs AWS’s own example as AWS does (Signature Version 4, ListUsers)', () => {
	const headers = signAwsRequest(
		{
			method: 'GET',
			host: 'iam.amazonaws.com',
			target: '/?Action=ListUsers&Version=2010-05-08',
			headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
			body: '',
		},
		'iam',
		credentials,
		nowMs,
	);
	expect(headers).toEqual({
		'x-amz-date': '20150830T123600Z',
		authorization:
			'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
	});
});

test('temporary credentials are signed too', () => {
	const request = { method: 'POST', host: 'h', target: '/a%3Ab/c', headers: {}, body: '{}' };
	const plain = signAwsRequest(request, 'bedrock', credentials, nowMs);
	const temporary = signAwsRequest(request, 'bedrock', { ...credentials, sessionToken: 'session' }, nowMs);
	expect(temporary['x-amz-security-token']).toBe('session');
	expect(temporary['authorization']).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token');
	expect(temporary['authorization']).not.toBe(plain['authorization']);
});
