/**
 * HTML pages of the edge for rejected requests: small, self-contained, and limited to the case at hand. Built once, except the one
 * that names a scope; only the request id differs.
 */

import type { HttpResponse } from '../core/handler.ts';
import { Rejection } from '../core/rejection.ts';
import { UpstreamError } from '../core/upstream-error.ts';

const style =
	':root{color-scheme:light dark}' +
	'body{margin:0;min-height:100vh;display:grid;place-items:center;background:#f6f7f9;color:#1c2330;font:16px/1.55 system-ui,sans-serif}' +
	'main{box-sizing:border-box;width:min(34rem,100%);padding:2rem}' +
	'p{margin:.75rem 0}' +
	'.status{margin:0;color:#667085;font-size:.875rem;letter-spacing:.06em}' +
	'h1{margin:.25rem 0 1rem;font-size:1.5rem;line-height:1.25}' +
	'.id{margin-top:2rem;padding-top:1rem;border-top:1px solid #d7dbe2;color:#667085;font-size:.8125rem}' +
	'code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}' +
	'@media(prefers-color-scheme:dark){body{background:#12151b;color:#e6e9ef}.status,.id{color:#98a2b3}.id{border-color:#2c3340}}';

/** SHA-256 of `style`; the test reports the new one when the style changes. */
const styleHash = 'sha256-1Ab9y1qHD8mts2/K8AXGE2cNA9TxVbxBNzBmmhHW/kk=';

const pageHeaders = {
	'content-type': 'text/html; charset=utf-8',
	'cache-control': 'no-store',
	'content-security-policy': `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
	'referrer-policy': 'no-referrer',
	'x-content-type-options': 'nosniff',
} as const;

const special = /[&<>"']/g;

interface Page {
	readonly beforeId: string;
	readonly afterId: string;
}

const internalError = page(
	'500 Internal Server Error',
	'Internal server error',
	'Tollgate could not handle the request. Give the request id below to the operators.',
);

const blocked = page(
	'403 Forbidden',
	'Request blocked',
	'The firewall blocked this request. If you sent many requests, wait before the next one.',
);

const pages: Readonly<Record<number, Page>> = {
	400: page('400 Bad Request', 'Malformed request', 'It is not one well-formed, unambiguous HTTP/1.1 request.'),
	401: plainPage(
		'401 Unauthorized',
		'Access token required',
		'Fetch a token from the token endpoint and send it with each request in the <code>Authorization: Bearer</code> header.',
	),
	403: insufficientScope('The access token does not have the required scope'),
	408: page('408 Request Timeout', 'The request took too long to arrive', 'Send it again without pauses.'),
	417: page('417 Expectation Failed', 'The expectation cannot be met', 'Send <code>Expect: 100-continue</code> or no such header.'),
	431: page('431 Request Header Fields Too Large', 'The header fields are too large', 'Send fewer or shorter header fields.'),
	500: internalError,
	502: page('502 Bad Gateway', 'Upstream unreachable', 'The upstream server could not be reached. Retry in a moment.'),
	503: page('503 Service Unavailable', 'Service unavailable', 'The service cannot accept this request now. Retry shortly.'),
	504: page('504 Gateway Timeout', 'Upstream timeout', 'The upstream server did not respond in time. Retry in a moment.'),
	505: page('505 HTTP Version Not Supported', 'The HTTP version is not supported', 'Use HTTP/1.1.'),
};

/** Codes of the firewall: only their responses carry its header. */
const firewallCodes: ReadonlySet<string> = new Set(['ip_rate_exceeded', 'ip_reputation_listed', 'firewall_rule_matched']);

/** Statuses after which the connection cannot or should not be reused. */
const closingStatuses: ReadonlySet<number> = new Set([400, 408, 417, 431, 505]);

const defaultRetryAfterSeconds = 5;

/** Renders the generic page of a status. */
export function renderPage(status: number, requestId: string): string {
	return fill(pageOf(status), requestId);
}

function pageOf(status: number): Page {
	return pages[status] ?? internalError;
}

/**
 * Renders the page for a policy rejection or an upstream error. Anything else is an internal error: 500 without details.
 * @param cause the thrown value. The `headers` of a rejection are included.
 */
export function renderEdgeRejection(cause: unknown, requestId: string): HttpResponse {
	const isExpected = cause instanceof Rejection || cause instanceof UpstreamError;
	const code = isExpected ? cause.code : 'internal_error';
	const status = isExpected ? cause.status : 500;
	const isBlocked = firewallCodes.has(code);
	const headers: Record<string, string> = { ...pageHeaders };
	if (isBlocked) headers['x-amzn-waf-action'] = 'BLOCK';
	if (code === 'token_missing') headers['www-authenticate'] = 'Bearer realm="tollgate"';
	if (code === 'token_invalid') headers['www-authenticate'] = 'Bearer realm="tollgate", error="invalid_token"';
	const retryAfterSeconds = cause instanceof Rejection ? cause.retryAfterSeconds : undefined;
	// SDKs retry statuses of their own choice; the same token is rejected each time.
	if (status === 401) headers['x-should-retry'] = 'false';
	if (status === 503) headers['retry-after'] = String(retryAfterSeconds ?? defaultRetryAfterSeconds);
	if (cause instanceof Rejection) Object.assign(headers, cause.headers);
	const specific = isExpected && code === 'scope_missing' ? insufficientScope(cause.message) : pageOf(status);
	const body = fill(isBlocked ? blocked : specific, requestId);
	return { status, headers, body, record: { code }, closesConnection: closingStatuses.has(status) || code === 'draining' };
}

/** @param message names the scope. */
function insufficientScope(message: string): Page {
	return page('403 Forbidden', 'Insufficient scope', `${escapeHtml(message).replaceAll(/`([^`]*)`/g, '<code>$1</code>')}.`);
}

function page(status: string, title: string, text: string): Page {
	return {
		beforeId: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<title>${status}</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="status">${status}</p>
<h1>${title}</h1>
<p>${text}</p>
<p class="id">Request id <code>`,
		afterId: `</code></p>
</main>
</body>
</html>
`,
	};
}

/** Programs print this page as text: a few lines, without a style sheet. */
function plainPage(status: string, title: string, text: string): Page {
	return {
		beforeId: `<!doctype html>
<title>${status}</title>
<h1>${title}</h1>
<p>${text}</p>
<p>Request id <code>`,
		afterId: '</code></p>\n',
	};
}

function fill({ beforeId, afterId }: Page, requestId: string): string {
	return beforeId + escapeHtml(requestId) + afterId;
}

function escapeHtml(text: string): string {
	return text.replace(special, (character) => `&#${character.charCodeAt(0)};`);
}
