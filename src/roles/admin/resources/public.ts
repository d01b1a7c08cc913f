import { z } from 'zod';
import type { AdminSettings, ReadMetrics } from '../admin-settings.ts';
import { docsPage, docsPolicy } from '../docs-page.ts';
import { describeOperations, type OpenApiDocument } from '../open-api.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { named } from '../schemas/values.ts';

const openApi = named('OpenApi', z.record(z.string(), z.unknown()));
const health = named('Health', z.strictObject({ status: z.enum(['ok', 'ready', 'not_ready']) }));

/** @param checkReady rejects if a request could not be served now. */
export function publicOperations(
	{ version, scopeBase }: Pick<AdminSettings, 'version' | 'scopeBase'>,
	others: readonly Operation[],
	checkReady: () => Promise<void>,
): Operation[] {
	const alive = ['/', '/healthz'].map((path) =>
		defineOperation({
			method: 'GET',
			path,
			tag: 'public',
			summary: 'Liveness',
			access: 'health',
			success: { status: 200, schema: health },
			run: () => ({ body: { status: 'ok' } }),
		}),
	);
	const ready = defineOperation({
		method: 'GET',
		path: '/readyz',
		tag: 'public',
		summary: 'Readiness',
		access: 'health',
		success: { status: 200, schema: health, otherStatuses: [503] },
		run: () =>
			checkReady().then(
				() => ({ body: { status: 'ready' } }),
				() => ({ status: 503, body: { status: 'not_ready' } }),
			),
	});
	const cached = { 'cache-control': 'public, max-age=300' };
	const document = defineOperation({
		method: 'GET',
		path: '/openapi.json',
		tag: 'public',
		summary: 'The OpenAPI document',
		access: 'public',
		success: { status: 200, schema: openApi },
		run: () => ({ body: describe(), headers: cached }),
	});
	const page = defineOperation({
		method: 'GET',
		path: '/docs',
		tag: 'public',
		summary: 'API documentation (HTML)',
		access: 'public',
		success: { status: 200, otherTypes: ['text/html'] },
		run: () => ({
			text: show(),
			headers: { ...cached, 'content-type': 'text/html; charset=utf-8', 'content-security-policy': docsPolicy },
		}),
	});
	const operations: Operation[] = [...others, ...alive, ready, document, page];
	const describe = once((): OpenApiDocument => describeOperations(operations, { version, scopeBase }));
	const show = once(() => docsPage(describe()));
	return operations;
}

/** Defers a value to its first use, because the start does not need it. */
function once<Made>(make: () => Made): () => Made {
	let made: Made | undefined;
	return () => (made ??= make());
}

/** @param isOpen true if scrapers need no access token. */
export function metricsOperation(read: ReadMetrics, isOpen: boolean): Operation {
	return defineOperation({
		method: 'GET',
		path: '/metrics',
		tag: 'public',
		summary: 'Metrics of this process in the Prometheus format',
		access: isOpen ? 'public' : { needs: 'read', team: 'denied' },
		success: { status: 200, otherTypes: ['text/plain'] },
		async run() {
			const { contentType, text } = await read();
			return { text, headers: { 'content-type': contentType } };
		},
	});
}
