/** Separate metrics address, for a process without the admin API or in addition to it. */
import type { Handler, HttpResponse } from '../core/handler.ts';
import { ServingRole } from '../io/serving-role.ts';
import { type AppContext, type Component, serve } from './app-context.ts';

export function composeMetrics(context: AppContext, listen: string): Component {
	const { clock, metrics, connections } = context;
	const handle: Handler = async ({ method, path }): Promise<HttpResponse> => {
		if (path !== '/metrics') return plain(404, 'Unknown path: this address serves only /metrics\n');
		if (method !== 'GET' && method !== 'HEAD') return plain(405, 'Use GET\n', { allow: 'GET, HEAD' });
		const { contentType, text } = await metrics.scrape();
		return plain(200, text, { 'content-type': contentType });
	};
	return {
		role: new ServingRole('metrics', serve(context, handle, listen, { maxConnections: connections.documents }), {
			clock,
			graceMs: () => 0,
		}),
	};
}

function plain(status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
	return { status, headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers }, body };
}
