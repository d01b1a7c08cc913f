import type { Handler, HttpRequest, HttpResponse } from '../../core/handler.ts';
import { nearestName } from '../../core/nearest-name.ts';
import { Rejection } from '../../core/rejection.ts';
import { canonicalPath } from '../../wire/canonical-path.ts';
import type { ClientErrors } from '../../wire/dialects/dialect.ts';
import { requireTextViews } from '../../wire/endpoints/endpoint.ts';
import { endpoints } from '../../wire/endpoints/endpoints.ts';
import { splitStoredPath, storedResponseEndpoint, storedResponseRequests } from '../../wire/endpoints/stored-responses.ts';
import { draining, liveness, renderReadiness } from '../../wire/health.ts';
import { renderFailure } from './failure.ts';
import { assembleDeps, type GatewayDeps } from './gateway-deps.ts';
import type { GatewayPorts, GatewaySettings } from './gateway-settings.ts';
import { completed, failed, RequestScope } from './request-scope/request-scope.ts';
import { serveInference } from './serve-inference.ts';
import { noteLimits, serveLimits } from './serve-limits.ts';
import { modelPath, serveModel, serveModels } from './serve-models.ts';
import { serveStoredResponse } from './serve-stored-response.ts';
import { identifyCaller, noteTeam } from './stages/identify-caller.ts';
import { EventBody } from './streams/event-source.ts';

export interface Gateway {
	/** Never rejects: every failure is a response. */
	readonly handle: Handler;
	readonly routes: readonly { readonly method: string; readonly path: string }[];
	/** Ends in-flight requests: streams with an error event of code `draining`, others with 503. */
	endInFlightRequests(): void;
	inFlightRequests(): number;
	/** Resolves when the cost of all ended requests is settled. */
	settled(): Promise<void>;
}

const modelsPath = '/v1/models';
const limitsPath = '/v1/limits';
/** Paths that a client with an unknown path may have meant. */
const apiPaths = [...endpoints.map(({ path }) => path), modelsPath, limitsPath];

interface Route {
	readonly methods: readonly string[];
	/** True if the route needs no access token. */
	readonly isPublic?: boolean;
	serve(request: HttpRequest, scope: RequestScope): Promise<HttpResponse>;
}

const clientErrors: ReadonlyMap<string, ClientErrors | undefined> = new Map(
	[...endpoints, ...storedResponseRequests.map((stored) => storedResponseEndpoint(stored, ''))].map(({ path, dialect }) => [
		path,
		dialect.clientErrors,
	]),
);

/** @throws Error if the settings contradict each other. */
export function createGateway(settings: GatewaySettings, ports: GatewayPorts): Gateway {
	const deps = assembleDeps(settings, ports);
	const routes = compileRoutes(deps);
	const serve = (request: HttpRequest, scope: RequestScope): Promise<HttpResponse> => {
		const route = routes.get(request.path) ?? routes.get(formOf(request.path));
		if (route?.isPublic !== true && ports.overload?.() !== undefined) return Promise.reject(new Rejection('overloaded'));
		return route?.methods.includes(request.method) ? route.serve(request, scope) : rejectRoute(request, route, scope, deps);
	};
	return {
		routes: [...routes].flatMap(([path, { methods }]) => methods.map((method) => ({ method, path }))),
		handle(received) {
			const path = canonicalPath(received.path);
			const request = path === received.path ? received : { ...received, path };
			const scope = new RequestScope(request.id, ports.log);
			// Every request ends here, except one whose stream has begun: that ends with the stream.
			return serve(request, scope).then(
				(response) => {
					if (!(response.body instanceof EventBody)) scope.end(completed(response.status));
					return response;
				},
				async (cause: unknown) => {
					scope.end(failed(cause));
					await noteLimits(scope.recorder, deps);
					return renderFailure(cause, request, scope.recorder, ports, clientErrors.get(formOf(request.path)));
				},
			);
		},
		endInFlightRequests: () => deps.work.endAll(),
		inFlightRequests: () => deps.work.inFlightRequests.count,
		settled: () => deps.work.settlements.settled(),
	};
}

function compileRoutes(deps: GatewayDeps): ReadonlyMap<string, Route> {
	const { ports } = deps;
	for (const endpoint of endpoints) requireTextViews(endpoint);
	const health: Route = { methods: ['GET', 'HEAD'], isPublic: true, serve: async () => liveness };
	const routes = new Map<string, Route>([
		['/', { ...health, serve: async () => (ports.isShuttingDown?.() === true ? draining : liveness) }],
		['/healthz', health],
		['/readyz', { ...health, serve: async () => renderReadiness(await ports.readiness(), false) }],
		[modelsPath, { methods: ['GET'], serve: (request, { recorder }) => serveModels(request, recorder, deps) }],
		[modelPath, { methods: ['GET'], serve: (request, { recorder }) => serveModel(request, recorder, deps) }],
		[limitsPath, { methods: ['GET'], serve: (request, { recorder }) => serveLimits(request, recorder, deps) }],
	]);
	for (const endpoint of endpoints) {
		routes.set(endpoint.path, { methods: ['POST'], serve: (request, scope) => serveInference(request, endpoint, scope, deps) });
	}
	for (const [path, requests] of Map.groupBy(storedResponseRequests, (stored) => stored.path)) {
		routes.set(path, {
			methods: requests.map(({ method }) => method),
			serve(request, scope) {
				const stored = requests.find(({ method }) => method === request.method);
				const split = splitStoredPath(request.path);
				if (stored === undefined || split === undefined) throw new Error(`${request.method} ${path} has no route`);
				return serveStoredResponse(request, stored, split.id, scope, deps);
			},
		});
	}
	return routes;
}

/** Returns the path under which the route of a path with a parameter is registered. */
function formOf(path: string): string {
	return path.startsWith(modelPath) ? modelPath : (splitStoredPath(path)?.form ?? path);
}

/** Reveals the methods of a path only to authenticated clients, like the edge. */
async function rejectRoute(request: HttpRequest, route: Route | undefined, { recorder }: RequestScope, deps: GatewayDeps): Promise<never> {
	if (route?.isPublic !== true) noteTeam(await identifyCaller(request, deps), recorder, deps);
	throw routeRejection(request, route);
}

function routeRejection({ method, path }: HttpRequest, route: Route | undefined): Rejection {
	if (route === undefined) {
		const nearest = nearestName(path, apiPaths);
		const hint = nearest === undefined ? '' : `. Did you mean ${nearest}?`;
		return new Rejection('path_unknown', { message: `Unknown path ${path.slice(0, 256)}${hint}` });
	}
	const allow = route.methods.join(', ');
	return new Rejection('method_not_allowed', { message: `${path} does not support ${method}: use ${allow}`, headers: { allow } });
}
