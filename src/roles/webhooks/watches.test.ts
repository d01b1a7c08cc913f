/** Hourly checks that notify webhooks: spend and credentials. */
import { expect, onTestFinished, test } from 'vitest';
import { closeEntry } from '../../../test/support/close-entry.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { createMemoryLedger } from '../../../test/support/memory-ledger.ts';
import { createMemoryRecords } from '../../../test/support/memory-records.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import type { Notice, NoticeEvent } from '../../core/notice.ts';
import { noUsage } from '../../core/usage.ts';
import type { Credential } from '../../policy/notifications/expiring-credentials.ts';
import { CredentialWatch } from './watch-credentials.ts';
import { SpendWatch } from './watch-spend.ts';
import type { WebhookSettings } from './webhook-settings.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const usd = 1_000_000_000n;
const startMs = Date.UTC(2026, 10, 26, 15, 30);

const webhook = (name: string, events: readonly NoticeEvent[], changed: Partial<WebhookSettings> = {}): WebhookSettings => ({
	name,
	url: `https://${name}.example.com`,
	secret: 'secret-of-the-webhook',
	events,
	canReachPrivateNetwork: false,
	credentialExpiryMs: 14 * dayMs,
	minAnomalyNanoUsd: usd,
	...changed,
});

const settled = async (): Promise<void> => {
	for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
};

async function ledgerWith(costs: readonly (readonly [team: string, atMs: number, costNanoUsd: bigint])[]) {
	const ledger = createMemoryLedger();
	for (const [index, [team, startedMs, costNanoUsd]] of costs.entries()) {
		const id = `request-${index}`;
		await ledger.open({
			id,
			startedMs,
			team,
			clientId: 'c',
			provider: 'provider_a',
			model: 'm',
			dialect: 'chat',
			isStreaming: false,
			priceVersion: 'v',
			reservedNanoUsd: 0n,
			budgets: [],
			endpoint: '/v1/chat/completions',
			attributes: '',
		});
		await closeEntry(ledger, {
			id,
			endedMs: startedMs,
			usage: noUsage,
			costNanoUsd,
			outcome: 'complete',
			status: 200,
			isEstimated: false,
		});
	}
	return ledger;
}

test('the last full hour is compared once by all processes, soon after its end', async () => {
	const days = Array.from({ length: 28 }, (_, index) => startMs - (index + 1) * dayMs);
	const ledger = await ledgerWith([
		...days.flatMap((atMs) => [['red', atMs, 2n * usd] as const, ['blue', atMs, 2n * usd] as const, ['small', atMs, 1000n] as const]),
		['red', startMs, 30n * usd],
		['blue', startMs, 3n * usd],
		['small', startMs, usd / 2n],
		['fresh', startMs, 500n * usd],
	]);
	const records = createMemoryRecords();
	onTestFinished(() => records.close());
	const clock = new ManualClock(startMs);
	const notices: Notice[] = [];
	const webhooks = [
		webhook('ops', ['spend.anomaly']),
		webhook('rich', ['spend.anomaly'], { minAnomalyNanoUsd: 100n * usd }),
		webhook('other', ['budget.warning']),
	];
	const ports = {
		ledger,
		deliveries: records.webhookDeliveries,
		webhooks: () => webhooks,
		notify: (notice: Notice) => void notices.push(notice),
		clock,
		log: createRecordingLog(),
		chance: () => 0,
	};
	const processes = [new SpendWatch(ports), new SpendWatch({ ...ports, chance: () => 0.9 })];
	clock.advance(30 * 60_000 + 119_999);
	await settled();
	expect(notices).toEqual([]);
	clock.advance(1);
	await settled();
	expect(notices).toEqual([
		{
			event: 'spend.anomaly',
			subject: 'red\n2026-11-26T15:00:00.000Z',
			repeatsUntilMs: Date.UTC(2026, 10, 27, 15),
			webhooks: ['ops'],
			data: {
				team: 'red',
				hour: '2026-11-26T15:00:00.000Z',
				spent_usd: '30.00',
				mean_usd: '2.00',
				deviation_usd: '0.00',
				compared_hours: 28,
			},
		},
	]);
	clock.advance(hourMs);
	await settled();
	expect(notices).toHaveLength(1);
	for (const one of processes) one.stop();
	expect(clock.pending).toBe(0);
});

test('a credential is announced to each webhook at its time, with the same subject at every look', async () => {
	const clock = new ManualClock(startMs);
	const notices: Notice[] = [];
	const credential = (name: string, days: number, kind: Credential['kind'] = 'client_secret'): Credential => ({
		kind,
		name,
		expiresAtMs: startMs + days * dayMs,
		isReplaced: false,
	});
	const credentials = [
		credential('expired', -1),
		credential('soon', 3),
		credential('provider_a', 10, 'provider_key'),
		credential('later', 40),
	];
	const webhooks = [
		webhook('ops', ['credential.expiring']),
		webhook('late', ['credential.expiring'], { credentialExpiryMs: 5 * dayMs }),
		webhook('other', ['budget.warning']),
	];
	const watch = new CredentialWatch({
		credentials: async () => credentials,
		webhooks: () => webhooks,
		notify: (notice) => void notices.push(notice),
		clock,
		log: createRecordingLog(),
	});
	clock.advance(5000);
	await settled();
	const found = () => notices.map(({ webhooks: names = [], data }) => `${names.join()} ${String(data['kind'])} ${String(data['name'])}`);
	expect(found()).toEqual(['ops client_secret soon', 'ops provider_key provider_a', 'late client_secret soon']);
	expect(notices[0]?.data).toEqual({
		kind: 'client_secret',
		name: 'soon',
		expires_at: new Date(startMs + 3 * dayMs).toISOString(),
		days_left: 2,
		replaced: false,
	});
	const subjects = new Set(notices.map(({ subject }) => subject));
	clock.advance(hourMs);
	await settled();
	expect(notices).toHaveLength(6);
	expect(new Set(notices.map(({ subject }) => subject))).toEqual(subjects);
	watch.stop();
	expect(clock.pending).toBe(0);
});
