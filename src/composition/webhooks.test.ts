import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createMemoryRecords } from '../../test/support/memory-records.ts';
import { createRecordingLog } from '../../test/support/recording-log.ts';
import { parseConfig } from '../config/load.ts';
import type { RecordStore } from '../stores/contracts/records.ts';
import { createAppContext } from './app-context.ts';
import { openWebhooks } from './webhooks.ts';

const certificate = readFileSync(join(import.meta.dirname, '../../test/fixtures/tls/certificate.pem'), 'utf8');
const privateKey = readFileSync(join(import.meta.dirname, '../../test/fixtures/tls/key.pem'), 'utf8');
const { validToDate, subject } = new X509Certificate(certificate);
const dayMs = 24 * 3_600_000;
const nowMs = validToDate.getTime() - 3 * dayMs;

const settled = async (): Promise<void> => {
	for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

async function open(records: RecordStore, settings: object = {}) {
	const clock = new ManualClock(nowMs);
	const cleanup = new AsyncDisposableStack();
	// No receiver listens there.
	const webhooks = [{ name: 'ops', url: 'http://127.0.0.1:1/', secret: 'secret-of-the-webhook', allow_private_network: true }];
	const { config } = parseConfig(JSON.stringify({ webhooks, ...settings }), { file: null, env: {} });
	const context = createAppContext({ config, clock, log: createRecordingLog(), phase: () => 'serving', cleanup });
	const opened = await openWebhooks(context, records);
	await settled();
	const events = async () => {
		const { deliveries } = await records.webhookDeliveries.list({ limit: 100 });
		return deliveries
			.toReversed()
			.map(({ event, body }) => ({ event, data: (JSON.parse(body) as { data: Record<string, unknown> }).data }));
	};
	const close = async (): Promise<void> => {
		const closed = cleanup.disposeAsync();
		await settled();
		clock.advance(5000);
		await closed;
	};
	return { ...opened, clock, events, close };
}

function createRecords(): RecordStore {
	const records = createMemoryRecords();
	onTestFinished(() => records.close());
	return records;
}

test('credentials of every kind are found, and none is in an event', async () => {
	const records = createRecords();
	const times = { createdAtMs: 0, updatedAtMs: 0 };
	const inDays = (days: number): number => nowMs + days * dayMs;
	await records.clients.create({
		id: 'search',
		name: 'Search',
		secrets: [
			{ hash: 'scrypt$canary-new', expiresAtMs: null },
			{ hash: 'scrypt$canary-old', expiresAtMs: inDays(1) },
		],
		scopes: ['invoke'],
		isDisabled: false,
		canSetAttributes: false,
		...times,
	});
	const key = { privateJwk: 'canary-jwk', createdAtMs: 0, activeFromMs: 0 };
	await records.signingKeys.rotate({ ...key, kid: 'old', retiredAtMs: null }, null, []);
	await records.signingKeys.rotate({ ...key, kid: 'new', retiredAtMs: null }, 'old', [{ kid: 'old', retiredAtMs: inDays(2) }]);
	const { clock, events, close } = await open(records, {
		edge: { tls: { certificate, private_key: privateKey } },
		providers: { provider_b: { api_key: 'canary-key', api_key_expires_at: new Date(inDays(4)).toISOString() } },
	});
	clock.advance(5000);
	await settled();
	const found = await events();
	expect(found.map(({ data }) => [data['kind'], data['name'], data['days_left'], data['replaced']])).toEqual([
		['client_secret', 'search', 0, true],
		['signing_key', 'old', 1, true],
		['provider_key', 'provider_b', 3, false],
		['certificate', subject, 2, false],
	]);
	expect(JSON.stringify(found)).not.toContain('canary');
	await close();
	expect(clock.pending).toBe(0);
});

test('a provider that an earlier process ejected is reported as back after the first success of the next one', async () => {
	const records = createRecords();
	const first = await open(records);
	first.noteHealth('provider_a', { state: 'first_success' });
	first.noteHealth('provider_a', { state: 'ejected', detail: 'returned 500' });
	await settled();
	await first.close();
	const second = await open(records);
	second.noteHealth('provider_b', { state: 'first_success' });
	second.noteHealth('provider_a', { state: 'first_success' });
	await settled();
	expect(await second.events()).toEqual([
		{ event: 'provider.ejected', data: { provider: 'provider_a', detail: 'returned 500' } },
		{ event: 'provider.recovered', data: { provider: 'provider_a' } },
	]);
	await second.close();
});
