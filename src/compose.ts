/**
 * Composition root: builds roles that can be started, stopped and reconfigured from a configuration. Modules that only some configurations
 * need are loaded on demand, so that a process is ready sooner.
 */
import { openKeySets } from './composition/access-token-component.ts';
import { type AppContext, type Component, createAppContext, type Phase, serve } from './composition/app-context.ts';
import { openRecords } from './composition/open-stores.ts';
import { measureProduct, type NoteReload } from './composition/product-metrics.ts';
import { withRestartSettingsOf } from './composition/running-settings.ts';
import { identitySettings, liveIdentitySettings } from './composition/settings.ts';
import { withCleanup } from './composition/with-cleanup.ts';
import type { Config } from './config/schema.ts';
import type { Clock } from './core/clock.ts';
import type { Role, RoleName } from './core/handler.ts';
import type { Log } from './core/log.ts';
import { reportTickErrors } from './core/tick-flush.ts';
import type { ScrapedMetrics } from './io/metrics.ts';
import { ReopeningServer } from './io/reopening-server.ts';
import { ServingRole } from './io/serving-role.ts';
import type { Identity } from './roles/identity/identity.ts';
import type { RecordStore } from './stores/contracts/records.ts';

export interface ComposeDeps {
	readonly clock: Clock;
	readonly log: Log;
	/** Version of the product; shown by the admin API. */
	readonly version: string;
	/** Delay between two events of a simulated stream; the simulator's own pace by default. */
	readonly simulatorIntervalMs?: number;
}

export interface Product {
	readonly metrics: ScrapedMetrics;
	readonly noteReload: NoteReload;
	/** Clients, teams and keys; undefined if no role needs them. */
	readonly records: RecordStore | undefined;
	/** @throws StartFailure if a role cannot listen; roles that already listen are stopped again. */
	start(): Promise<void>;
	/** Reports not ready immediately and closes after the configured delay. In-flight requests then finish within the grace time. */
	stop(): Promise<void>;
	/** Stops without the delay; does nothing once stopped. */
	[Symbol.asyncDispose](): Promise<void>;
	/** Applies settings that can change without a restart, all or none. @throws Error if settings contradict each other. */
	reconfigure(config: Config): void;
}

/** A role that could not start to listen. */
export class StartFailure extends Error {
	override readonly name = 'StartFailure';
	readonly role: Role['name'];
	/** Error code of the system, such as `EADDRINUSE`. */
	readonly code: string;

	constructor(role: Role['name'], cause: NodeJS.ErrnoException) {
		super(cause.message, { cause });
		this.role = role;
		this.code = cause.code ?? '';
	}
}

/** @throws StoreUnusable, ConfigError; Error if settings contradict each other. A failure closes everything that was opened. */
export function compose(config: Config, deps: ComposeDeps): Promise<Product> {
	return withCleanup((cleanup) => composeProduct(config, deps, cleanup));
}

async function composeProduct(
	config: Config,
	{ clock, log, version, simulatorIntervalMs }: ComposeDeps,
	cleanup: AsyncDisposableStack,
): Promise<Product> {
	let phase: Phase = 'serving';
	let delayMs = shutdownDelayMs(config);
	const context = createAppContext({ config, clock, log, phase: () => phase, cleanup });
	cleanup.defer(reportTickErrors((error) => log.error('internal error', { error })));
	const has = (role: RoleName): boolean => config.roles.includes(role);
	const hasAdmin = has('admin') && config.enable_admin_api;
	const records =
		has('identity') || has('gateway') || hasAdmin ? await openRecords(config, { clock, log }, { canComeLate: true }) : undefined;
	cleanup.defer(() => records?.close());
	const identity = has('identity') && records !== undefined ? await composeIdentity(context, records) : undefined;
	// Ordered by dependency: parts that others need start first.
	const deps: Component[] = [];
	const simulator = has('simulator') ? await composeSimulator(context, simulatorIntervalMs) : undefined;
	if (simulator !== undefined) deps.push(simulator);
	// In-flight streams still need it, and so do requests whose usage is missing.
	cleanup.defer(() => simulator?.role.stop());
	if (identity !== undefined) deps.push(identity);
	const webhooks = records === undefined ? undefined : await (await import('./composition/webhooks.ts')).openWebhooks(context, records);
	const accounting =
		(has('gateway') || hasAdmin) && records !== undefined && webhooks !== undefined
			? await (await import('./composition/accounting.ts')).openAccounting(context, records, webhooks)
			: undefined;
	const keySets = openKeySets(context, identity?.role);
	cleanup.defer(() => keySets.stop());
	const noteReload = measureProduct(context, version, keySets);
	if (has('edge') || has('gateway')) {
		const { composeDataPlane } = await import('./composition/data-plane.ts');
		deps.push(await composeDataPlane(context, keySets, has('gateway') ? accounting : undefined, webhooks?.notify));
	}
	if (hasAdmin && records !== undefined && accounting !== undefined && webhooks !== undefined) {
		const { composeAdmin } = await import('./composition/admin-component.ts');
		deps.push(composeAdmin(context, version, keySets, records, accounting, webhooks));
	}
	if (config.metrics.listen !== null) {
		const { composeMetrics } = await import('./composition/metrics-component.ts');
		deps.push(composeMetrics(context, config.metrics.listen));
	}

	const resources = cleanup.move();
	const closeOnce = async (): Promise<void> => {
		phase = 'draining';
		// Stopped in parallel, so that their grace times do not add up.
		await Promise.all(deps.filter((part) => part !== simulator).map(({ role }) => role.stop()));
		await resources.disposeAsync();
	};
	let closing: Promise<void> | undefined;
	const close = (): Promise<void> => (closing ??= closeOnce());
	return {
		records,
		metrics: context.metrics,
		noteReload,
		async stop() {
			phase = 'shutting_down';
			if (delayMs > 0) await new Promise<void>((resolve) => clock.after(delayMs, resolve));
			await close();
		},
		[Symbol.asyncDispose]: close,
		async start() {
			for (const { role } of deps) {
				await role.start().catch(async (cause: unknown) => {
					await close();
					throw isSystemError(cause) ? new StartFailure(role.name, cause) : cause;
				});
			}
			for (const part of deps) part.noteListening?.();
		},
		reconfigure(next) {
			const effective = withRestartSettingsOf(config, next);
			const commits = deps.map((part) => part.prepare?.(effective));
			for (const commit of commits) commit?.();
			accounting?.configure(effective);
			webhooks?.configure(effective);
			delayMs = shutdownDelayMs(effective);
		},
	};
}

async function composeIdentity(context: AppContext, records: RecordStore): Promise<Component & { readonly role: Identity }> {
	const { createIdentity } = await import('./roles/identity/identity.ts');
	const { openSigningKeys } = await import('./composition/open-signing-keys.ts');
	const { config, clock, log, newRequestId, connections } = context;
	const { signingKeys, prepareEncryption } = openSigningKeys(config, records.signingKeys, log);
	const role = createIdentity(
		{ ...identitySettings(config), maxConnections: connections.documents },
		{ records: { ...records, signingKeys }, clock, log, newId: newRequestId },
	);
	// Secrets are hashed asynchronously. Changes are applied one at a time, so that the latest comes last.
	let reconfigured = Promise.resolve();
	return {
		role,
		prepare(next) {
			const useEncryption = prepareEncryption(next);
			return () => {
				useEncryption();
				const settings = liveIdentitySettings(next);
				reconfigured = reconfigured
					.then(() => role.reconfigure(settings))
					.catch((cause: unknown) => log.error('identity keeps its previous settings', { cause: String(cause) }));
			};
		},
	};
}

async function composeSimulator(context: AppContext, intervalMs: number | undefined): Promise<Component> {
	const { createSimulator } = await import('../simulator/simulator.ts');
	const { config, clock } = context;
	// Next to other roles, each request would be logged twice; the simulator keeps its own record.
	const log: Log = config.roles.length === 1 ? context.log : { ...context.log, info: (event, fields) => context.log.debug(event, fields) };
	const simulator = createSimulator(intervalMs === undefined ? {} : { intervalMs }, {
		clock,
		log,
		setOutage: (seconds) => server.closeFor(seconds),
	});
	const server = new ReopeningServer((port) => serve({ ...context, log }, simulator.handle, config.simulator.listen, { port }), clock);
	return { role: new ServingRole('simulator', server, { clock, graceMs: () => 0 }) };
}

function isSystemError(cause: unknown): cause is NodeJS.ErrnoException {
	return cause instanceof Error && 'code' in cause && 'syscall' in cause;
}

/** Leaves an edge enough time to query the gateway's health and learn that it is shutting down. */
const noticeMs = 3000;

function shutdownDelayMs({ gateway, roles }: Config): number {
	return gateway.shutdown_delay_ms ?? (roles.includes('gateway') && !roles.includes('edge') ? noticeMs : 0);
}
