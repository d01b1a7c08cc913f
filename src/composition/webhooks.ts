/** Webhooks of the configuration: their dispatcher, and what notifies it. */
import { randomUUID, X509Certificate } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import type { Notify } from '../core/notice.ts';
import type { UpstreamClient } from '../io/http1/client/upstream-client.ts';
import { createHttpClient } from '../io/http1/http-client.ts';
import { isPublicAddress } from '../policy/firewall/address-class.ts';
import type { Credential } from '../policy/notifications/expiring-credentials.ts';
import type { HealthChange } from '../roles/gateway/traffic-resolver.ts';
import { CredentialWatch } from '../roles/webhooks/watch-credentials.ts';
import { SpendWatch } from '../roles/webhooks/watch-spend.ts';
import { WebhookDispatcher } from '../roles/webhooks/webhook-dispatcher.ts';
import type { LedgerReader } from '../stores/contracts/ledger.ts';
import type { RecordStore } from '../stores/contracts/records.ts';
import type { AppContext } from './app-context.ts';
import { providerKeyExpiries, tlsMaterial, webhookSettings } from './settings.ts';

export interface Webhooks {
	readonly dispatcher: WebhookDispatcher;
	readonly notify: Notify;
	readonly noteHealth: (provider: string, change: HealthChange) => void;
	/** Begins to compare the spend of teams. */
	watchSpend(ledger: Pick<LedgerReader, 'summarize'>): { stop(): void };
	configure(config: Config): void;
}

const maxConnectionsPerReceiver = 8;
/** Providers whose state other processes may report again. */
const healthRepeatsMs = 60_000;

export async function openWebhooks(context: AppContext, records: RecordStore): Promise<Webhooks> {
	const { clock, log, metrics, cleanup } = context;
	const { webhookDeliveries: deliveries } = records;
	let { config } = context;
	const client = createWebhookClient(config, context);
	cleanup.defer(() => client.close());
	const ports = { upstream: client.send, deliveries, clock, log, metrics, chance: Math.random, newId: randomUUID };
	const dispatcher = new WebhookDispatcher(webhookSettings(config), ports);
	cleanup.defer(() => dispatcher.stop());
	dispatcher.start();
	const { notify } = dispatcher;
	const webhooks = () => dispatcher.webhooks;
	const watch = new CredentialWatch({ clock, log, notify, webhooks, credentials: () => listCredentials(config, records) });
	cleanup.defer(() => watch.stop());
	// Providers that an earlier process ejected. This one may find them healthy without an ejection of its own.
	let ejectedBefore: ReadonlySet<string> = new Set();
	if (dispatcher.webhooks.length > 0) {
		deliveries.subjectsIn('ejected').then(
			(subjects) => (ejectedBefore = new Set(subjects)),
			(cause: unknown) => log.warn('providers that an earlier process ejected could not be read', { cause }),
		);
	}
	return {
		dispatcher,
		notify,
		noteHealth(provider, change) {
			const subject = `provider:${provider}`;
			if (change.state === 'first_success' && !ejectedBefore.has(subject)) return;
			const isEjected = change.state === 'ejected';
			const nowMs = clock.nowMs();
			notify({
				event: isEjected ? 'provider.ejected' : 'provider.recovered',
				subject: `${provider}\n${nowMs}`,
				change: { subject, state: isEjected ? 'ejected' : 'healthy' },
				repeatsUntilMs: nowMs + healthRepeatsMs,
				data: isEjected ? { provider, detail: change.detail } : { provider },
			});
		},
		watchSpend: (ledger) => new SpendWatch({ ledger, deliveries, webhooks, notify, clock, log, chance: Math.random }),
		configure(next) {
			config = next;
			dispatcher.configure(webhookSettings(next));
		},
	};
}

/** Checks the addresses of receivers like those of providers. */
export function createWebhookClient(config: Config, { clock, log }: Pick<AppContext, 'clock' | 'log'>): UpstreamClient {
	return createHttpClient(config.gateway.http_client, {
		clock,
		log,
		maxConnectionsPerOrigin: maxConnectionsPerReceiver,
		isAllowedAddress: isPublicAddress,
	});
}

/** Lists credentials with a known expiry. */
async function listCredentials(config: Config, records: Pick<RecordStore, 'clients' | 'signingKeys'>): Promise<readonly Credential[]> {
	const [clients, keys] = await Promise.all([records.clients.list(), records.signingKeys.list()]);
	return [
		...clients.flatMap(({ id, secrets }) =>
			secrets.flatMap(({ expiresAtMs }) =>
				expiresAtMs === null
					? []
					: [
							credential(
								'client_secret',
								id,
								expiresAtMs,
								secrets.some((other) => (other.expiresAtMs ?? Infinity) > expiresAtMs),
							),
						],
			),
		),
		...keys.flatMap(({ kid, retiredAtMs }) => (retiredAtMs === null ? [] : [credential('signing_key', kid, retiredAtMs, true)])),
		...providerKeyExpiries(config).map(({ name, expiresAtMs }) => credential('provider_key', name, expiresAtMs, false)),
		...certificatesOf(config),
	];
}

function certificatesOf(config: Config): Credential[] {
	const pem = config.roles.includes('edge') ? tlsMaterial(config)?.certificate : undefined;
	if (pem === undefined) return [];
	const { subject, fingerprint256, validToDate } = new X509Certificate(pem);
	return [credential('certificate', subject?.replaceAll('\n', ', ') ?? fingerprint256, validToDate.getTime(), false)];
}

function credential(kind: Credential['kind'], name: string, expiresAtMs: number, isReplaced: boolean): Credential {
	return { kind, name, expiresAtMs, isReplaced };
}
