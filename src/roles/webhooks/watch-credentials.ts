/** Looks for credentials that are about to expire, once an hour. */
import type { Clock, Timer } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Notify } from '../../core/notice.ts';
import { type Credential, expiringWithin } from '../../policy/notifications/expiring-credentials.ts';
import type { WebhookSettings } from './webhook-settings.ts';

const intervalMs = 3_600_000;
const firstMs = 5000;
const dayMs = 24 * 3_600_000;

export interface CredentialWatchPorts {
	/** Lists the credentials that this process knows. */
	readonly credentials: () => Promise<readonly Credential[]>;
	readonly webhooks: () => readonly WebhookSettings[];
	readonly notify: Notify;
	readonly clock: Clock;
	readonly log: Log;
}

export class CredentialWatch {
	readonly #ports: CredentialWatchPorts;
	#timer: Timer;
	#isStopped = false;

	constructor(ports: CredentialWatchPorts) {
		this.#ports = ports;
		this.#timer = ports.clock.after(firstMs, () => this.#tick());
	}

	stop(): void {
		this.#isStopped = true;
		this.#timer.cancel();
	}

	#tick(): void {
		this.#timer = this.#ports.clock.after(intervalMs, () => this.#tick());
		void this.look();
	}

	/** Never rejects. */
	async look(): Promise<void> {
		const { credentials, webhooks, notify, clock, log } = this.#ports;
		const wanting = webhooks().filter(({ events }) => events.includes('credential.expiring'));
		if (wanting.length === 0) return;
		try {
			const known = await credentials();
			if (this.#isStopped) return;
			const nowMs = clock.nowMs();
			for (const { name: webhook, credentialExpiryMs } of wanting) {
				for (const { kind, name, expiresAtMs, isReplaced } of expiringWithin(known, credentialExpiryMs, nowMs)) {
					notify({
						event: 'credential.expiring',
						subject: `${kind}\n${name}\n${expiresAtMs}`,
						repeatsUntilMs: expiresAtMs + dayMs,
						webhooks: [webhook],
						data: {
							kind,
							name,
							expires_at: new Date(expiresAtMs).toISOString(),
							days_left: Math.floor((expiresAtMs - nowMs) / dayMs),
							replaced: isReplaced,
						},
					});
				}
			}
		} catch (cause) {
			log.warn('the expiry of credentials could not be checked', { cause });
		}
	}
}
