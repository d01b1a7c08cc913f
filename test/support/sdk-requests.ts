/** Heads of requests as Tollgate's clients send them, for tests that must not take them for attacks. */
import { streamOf } from '../../src/core/byte-stream.ts';
import type { HttpRequest } from '../../src/core/handler.ts';

const stainless = {
	'x-stainless-retry-count': '0',
	'x-stainless-timeout': '600',
	'x-stainless-lang': 'js',
	'x-stainless-package-version': '7.57.0',
	'x-stainless-os': 'Linux',
	'x-stainless-arch': 'x64',
	'x-stainless-runtime': 'node',
	'x-stainless-runtime-version': 'v22.14.0',
};
const json = { accept: 'application/json', 'content-type': 'application/json', 'content-length': '412', host: 'gateway.example.com:8787' };
const chat = { path: '/v1/chat/completions', query: '' };
const messages = { path: '/v1/messages', query: '' };

const heads: readonly (Pick<HttpRequest, 'path' | 'query' | 'headers'> & { readonly method?: string })[] = [
	{
		...chat,
		headers: {
			...json,
			...stainless,
			'user-agent': 'OpenAI/JS 7.57.0',
			'accept-language': '*',
			'sec-fetch-mode': 'cors',
			'accept-encoding': 'br, gzip, deflate',
		},
	},
	{
		...chat,
		headers: {
			...json,
			...stainless,
			'user-agent': 'AsyncOpenAI/Python 2.8.1',
			'x-stainless-lang': 'python',
			'x-stainless-async': 'async:asyncio',
			'x-stainless-runtime': 'CPython',
			'x-stainless-runtime-version': '3.13.5',
			'x-stainless-raw-response': 'true',
			'x-stainless-read-timeout': '600',
			'openai-organization': 'org-AbCdEfGh1234',
			'openai-project': 'proj_AbCdEfGh1234',
			'idempotency-key': 'stainless-python-retry-6c2c8d64-9e1b-4c6f-8d2f-0a1b2c3d4e5f',
		},
	},
	{
		...messages,
		query: 'beta=true',
		headers: {
			...json,
			...stainless,
			'user-agent': 'claude-cli/2.0.30 (external, cli)',
			'x-app': 'cli',
			'anthropic-version': '2023-06-01',
			'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14',
			'anthropic-dangerous-direct-browser-access': 'true',
			'x-stainless-helper-method': 'stream',
			'x-claude-code-session-id': '0b1c2d3e-4f5a-6b7c-8d9e-0f1a2b3c4d5e',
		},
	},
	{ ...messages, headers: { ...json, ...stainless, 'user-agent': 'Anthropic/Python 0.75.0', 'anthropic-version': '2023-06-01' } },
	{
		...chat,
		headers: {
			...json,
			'user-agent': 'ai/6.0.326 ai-sdk/openai/3.0.141 ai-sdk/provider-utils/4.0.38 runtime/node.js/v22',
			connection: 'keep-alive',
		},
	},
	{
		...messages,
		headers: { ...json, 'user-agent': 'ai/6.0.326 ai-sdk/anthropic/3.0.138 runtime/node.js/22', 'anthropic-version': '2023-06-01' },
	},
	{ ...chat, headers: { ...json, 'user-agent': 'curl/8.14.1', accept: '*/*' } },
	{ ...chat, headers: { ...json, 'user-agent': 'Wget/1.25.0', accept: '*/*' } },
	{ ...chat, headers: { ...json, 'user-agent': 'python-requests/2.32.5', accept: '*/*', 'accept-encoding': 'gzip, deflate, br, zstd' } },
	{ ...chat, headers: { ...json, 'user-agent': 'python-httpx/0.28.1', accept: '*/*' } },
	{ ...chat, headers: { ...json, 'user-agent': 'Python/3.13 aiohttp/3.13.2', accept: '*/*' } },
	{ ...chat, headers: { ...json, 'user-agent': 'Go-http-client/1.1' } },
	{ ...chat, headers: { ...json, 'user-agent': 'OpenAI/Go 3.8.1', 'x-stainless-lang': 'go' } },
	{
		...chat,
		headers: {
			...json,
			'user-agent': 'OpenAI/Java 4.8.0',
			'x-stainless-lang': 'java',
			'x-stainless-runtime': 'JRE',
			'x-stainless-runtime-version': '21.0.5',
		},
	},
	{ ...chat, headers: { ...json, 'user-agent': 'Java-http-client/21.0.5', connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' } },
	{ ...chat, headers: { ...json, 'user-agent': 'OpenAI/Ruby 0.35.0' } },
	{ ...chat, headers: { ...json, 'user-agent': 'azsdk-net-OpenAI/2.7.0 (.NET 9.0.1; Debian GNU/Linux 12 (bookworm))' } },
	{ ...chat, headers: { ...json, 'user-agent': 'reqwest/0.12.24' } },
	{ ...chat, headers: { ...json, 'user-agent': 'node' } },
	{ ...chat, headers: { ...json, 'user-agent': 'undici' } },
	{
		...chat,
		headers: {
			...json,
			'user-agent': 'PostmanRuntime/7.49.1',
			'postman-token': '6f1c2d3e-4f5a-6b7c-8d9e-0f1a2b3c4d5e',
			'cache-control': 'no-cache',
		},
	},
	{ ...chat, headers: { ...json, 'user-agent': 'okhttp/5.3.0' } },
	{
		...chat,
		headers: {
			...json,
			'user-agent': 'langchain-js-openai/1.1.0',
			'x-title': 'Notes & queries (internal)',
			'http-referer': 'https://notes.example.com/',
		},
	},
	{
		...chat,
		headers: {
			...json,
			'user-agent': 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
			'sec-ch-ua': '"Google Chrome";v="141", "Not?A_Brand";v="8", "Chromium";v="141"',
			'sec-ch-ua-platform': '"macOS"',
			'accept-language': 'en-US,en;q=0.9,de;q=0.8',
			origin: 'http://localhost:3000',
			referer: 'http://localhost:3000/chat?thread=42&view=full',
			'x-custom-host': 'http://127.0.0.1:9999/v1',
			cookie: '_ga=GA1.2.1234567890.1700000000; session=eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.sig; theme=dark; consent={"a":true,"b":false}',
			'if-none-match': 'W/"33a64df551425fcc55e4d42a148795d9f25f89d4"',
		},
	},
	{
		...chat,
		headers: {
			...json,
			'user-agent': 'Envoy/HC',
			via: '1.1 varnish, 1.1 edge-7 (squid/5.7)',
			'x-forwarded-for': '203.0.113.7, 10.0.0.4',
			'x-forwarded-proto': 'https',
			'x-amzn-trace-id': 'Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=1',
			'x-envoy-expected-rq-timeout-ms': '15000',
			'x-request-id': '6f1c2d3e-4f5a-6b7c-8d9e-0f1a2b3c4d5e',
			forwarded: 'for=203.0.113.7;proto=https;by=10.0.0.4',
			priority: 'u=1, i',
		},
	},
	{ method: 'GET', path: '/v1/models', query: '', headers: { host: 'gateway', accept: '*/*', 'user-agent': 'curl/8.14.1' } },
	{
		method: 'GET',
		path: '/v1/models',
		query: 'limit=20&after_id=claude-opus-4-5-20251101',
		headers: { host: 'gateway', 'user-agent': 'Anthropic/JS 1.12.0' },
	},
	{ method: 'GET', path: '/v1/limits', query: '', headers: { host: 'gateway', 'user-agent': 'Go-http-client/1.1' } },
	{ path: '/v1/messages/count_tokens', query: 'beta=true', headers: { ...json, 'user-agent': 'Anthropic/JS 1.12.0' } },
	{
		...chat,
		query: 'api-version=2025-04-01-preview',
		headers: { ...json, 'user-agent': 'AzureOpenAI/Python 2.8.1', 'api-key': 'not-looked-at' },
	},
	{ method: 'GET', path: '/', query: '', headers: { host: 'gateway', 'user-agent': 'ELB-HealthChecker/2.0' } },
	{ method: 'GET', path: '/', query: '', headers: { host: 'gateway', 'user-agent': 'kube-probe/1.33' } },
	{ method: 'GET', path: '/.well-known/security.txt', query: '', headers: { host: 'gateway', 'user-agent': 'curl/8.14.1' } },
];

export const sdkRequests: readonly HttpRequest[] = heads.map((head, index) => ({
	id: `req_${index}`,
	method: 'POST',
	body: streamOf([]),
	announcedLength: 412,
	peerAddress: '198.51.100.7',
	arrivedMs: 0,
	onClientDisconnect: () => undefined,
	...head,
}));
