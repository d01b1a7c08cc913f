import { defineOperation, type Operation } from './operation.ts';

/** Figures in the text that scrapers read. */
export type ReadMetrics = () => Promise<{ readonly contentType: string; readonly text: string }>;

/** @param isOpen scrapers need no access token. */
export function metricsOperation(read: ReadMetrics, isOpen: boolean): Operation {
	return defineOperation({
		method: 'GET',
		path: '/metrics',
		tag: 'public',
		summary: 'Figures of this process, for Prometheus',
		...(isOpen && { access: 'public' as const }),
		success: { status: 200, otherTypes: ['text/plain'] },
		async run() {
			const { contentType, text } = await read();
			return { text, headers: { 'content-type': contentType } };
		},
	});
}
