import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Rejection, type RejectionCode } from '../core/rejection.ts';
import { UpstreamError } from '../core/upstream-error.ts';
import { renderEdgeRejection, renderPage } from './pages.ts';

const bodyOf = (cause: unknown, requestId = 'req_1'): string => renderEdgeRejection(cause, requestId).body as string;

describe('each case has its status and headers', () => {
	const cases: [RejectionCode, number, string | undefined, string | undefined][] = [
		['http_malformed', 400, undefined, undefined],
		['token_missing', 401, 'Bearer realm="tollgate"', undefined],
		['token_invalid', 401, 'Bearer realm="tollgate", error="invalid_token"', undefined],
		['scope_missing', 403, undefined, undefined],
		['ip_rate_exceeded', 403, undefined, 'BLOCK'],
		['body_timeout', 408, undefined, undefined],
		['headers_too_large', 431, undefined, undefined],
		['no_gateway', 503, undefined, undefined],
		['http_version_unsupported', 505, undefined, undefined],
	];
	test.each(cases)('%s: %i', (code, status, challenge, wafAction) => {
		const response = renderEdgeRejection(new Rejection(code), 'req_1');
		expect(response.status).toBe(status);
		expect(response.headers['www-authenticate']).toBe(challenge);
		expect(response.headers['x-amzn-waf-action']).toBe(wafAction);
		expect(response.headers).toMatchObject({
			'content-type': 'text/html; charset=utf-8',
			'cache-control': 'no-store',
			'x-content-type-options': 'nosniff',
		});
		expect(response.body).toMatch(/^<!doctype html>/);
		expect(response.record).toEqual({ code });
	});

	test('503 has a retry time: the rejection’s own, otherwise a few seconds', () => {
		expect(renderEdgeRejection(new Rejection('no_gateway', { retryAfterSeconds: 2 }), 'r').headers['retry-after']).toBe('2');
		expect(renderEdgeRejection(new UpstreamError('key_set_unavailable'), 'r').headers['retry-after']).toBe('5');
	});

	test('401 asks SDKs not to retry, in a page of a few lines that programs can print', () => {
		for (const code of ['token_missing', 'token_invalid'] as const) {
			const response = renderEdgeRejection(new Rejection(code), 'req_1');
			expect(response.headers['x-should-retry']).toBe('false');
			const lines = bodyOf(new Rejection(code)).trimEnd().split('\n');
			expect(lines.length).toBeLessThanOrEqual(5);
			expect(lines.join('')).not.toContain('<style');
			expect(lines[1]).toBe('<title>401 Unauthorized</title>');
		}
		for (const code of ['scope_missing', 'no_gateway', 'http_malformed'] as const) {
			expect(renderEdgeRejection(new Rejection(code), 'req_1').headers).not.toHaveProperty('x-should-retry');
		}
	});

	test('an unreachable gateway is 502', () => {
		expect(renderEdgeRejection(new UpstreamError('gateway_unreachable'), 'r').status).toBe(502);
	});

	test('malformed HTTP closes the connection, a rejected token does not', () => {
		expect(renderEdgeRejection(new Rejection('http_malformed'), 'r').closesConnection).toBe(true);
		expect(renderEdgeRejection(new Rejection('draining'), 'r').closesConnection).toBe(true);
		expect(renderEdgeRejection(new Rejection('token_invalid'), 'r').closesConnection).toBe(false);
	});
});

test('a missing scope is named', () => {
	const body = bodyOf(new Rejection('scope_missing', { message: 'Needs the scope `<base>/invoke`' }));
	expect(body).toContain('<p>Needs the scope <code>&#60;base&#62;/invoke</code>.</p>');
});

test('an internal error is 500 without details', () => {
	const response = renderEdgeRejection(new TypeError('secret detail'), 'req_1');
	expect(response.status).toBe(500);
	expect(response.body).not.toContain('secret detail');
});

test('a rejection’s message and cause do not reach the page', () => {
	expect(bodyOf(new Rejection('token_invalid', { message: 'alg none', cause: 'bad kid' }))).toBe(bodyOf(new Rejection('token_missing')));
});

test('a hostile request id is shown, not run', () => {
	const body = bodyOf(new Rejection('token_missing'), `"><script>alert('1')</script>&`);
	expect(body).not.toContain('<script');
	expect(body).toContain('&#34;&#62;&#60;script&#62;alert(&#39;1&#39;)&#60;/script&#62;&#38;');
});

test('the policy allows only the page’s own style', () => {
	const [, style = ''] = /<style>(.*)<\/style>/.exec(renderPage(403, 'r')) ?? [];
	const hash = createHash('sha256').update(style).digest('base64');
	const policy = renderEdgeRejection(new Rejection('token_missing'), 'r').headers['content-security-policy'];
	expect(policy).toBe(`default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`);
});

test('pages load nothing, run nothing and link nowhere', () => {
	for (const status of [400, 401, 403, 408, 431, 500, 502, 503, 504, 505]) {
		expect(renderPage(status, 'r')).not.toMatch(/<script|<link|<img|href=|src=|url\(|\son\w+=/i);
	}
});

test('a status without a separate page gets the generic one', () => {
	expect(renderPage(599, 'r')).toBe(renderPage(500, 'r'));
});
