/** Deliveries over the product's HTTP client, to receivers on this machine. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { eventually } from '../../../test/support/product.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import type { Clock } from '../../core/clock.ts';
import { createUpstreamClient } from '../../io/http1/client/upstream-client.ts';
import { systemClock } from '../../io/system-clock.ts';
import { isPublicAddress } from '../../policy/firewall/address-class.ts';
import { sendWebhook } from './send-webhook.ts';
import type { WebhookSettings } from './webhook-settings.ts';

const settings: WebhookSettings = {
	name: 'ops',
	url: 'http://127.0.0.1:1/in?x=1',
	secret: 'secret-of-the-webhook',
	events: [],
	canReachPrivateNetwork: true,
	credentialExpiryMs: 1,
	minAnomalyNanoUsd: 0n,
};

async function startReceiver(listener: RequestListener) {
	const requests: IncomingMessage[] = [];
	const server = createServer((incoming, outgoing) => {
		requests.push(incoming);
		listener(incoming, outgoing);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function sender(clock: Clock = systemClock) {
	const log = createRecordingLog();
	const client = createUpstreamClient({
		clock,
		log,
		maxConnectionsPerOrigin: 4,
		isAllowedAddress: isPublicAddress,
		lookup: (_hostname, options, callback) => {
			if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
			else callback(null, '127.0.0.1', 4);
		},
	});
	onTestFinished(() => client.close());
	return {
		log,
		send: (changed: Partial<WebhookSettings>) =>
			sendWebhook({ ...settings, ...changed }, '{"id":"evt_1"}', { upstream: client.send, clock }),
	};
}

test('2xx is a delivery', async () => {
	const { url, requests } = await startReceiver((_, outgoing) => outgoing.writeHead(202).end());
	expect(await sender().send({ url: `${url}/in/tollgate` })).toEqual({ status: 202, error: null });
	expect(requests[0]?.url).toBe('/in/tollgate');
	expect(requests[0]?.headers).toMatchObject({ 'content-length': '14', 'user-agent': 'tollgate-webhooks' });
});

test('a redirect is not followed', async () => {
	const { url, requests } = await startReceiver((_, outgoing) => outgoing.writeHead(307, { location: '/elsewhere' }).end());
	expect(await sender().send({ url })).toEqual({ status: 307, error: 'redirect' });
	expect(requests).toHaveLength(1);
});

test('a response that never ends is not read on', async () => {
	let sentBytes = 0;
	const { url } = await startReceiver((_, outgoing) => {
		outgoing.writeHead(200);
		const more = (): void => {
			sentBytes += 1024;
			if (!outgoing.destroyed) outgoing.write('x'.repeat(1024), () => setImmediate(more));
		};
		more();
	});
	expect(await sender().send({ url })).toEqual({ status: 200, error: null });
	expect(sentBytes).toBeLessThan(10_000_000);
});

test('no connection is a failure, and so is a name that resolves to a private address', async () => {
	const { send, log } = sender();
	expect(await send({ url: 'http://127.0.0.1:1/' })).toEqual({ status: null, error: 'unreachable' });
	const { url, requests } = await startReceiver((_, outgoing) => outgoing.end());
	const port = new URL(url).port;
	for (const host of ['receiver.example.com', '127.0.0.1']) {
		const guarded = { url: `http://${host}:${port}/`, canReachPrivateNetwork: false };
		expect(await send(guarded)).toEqual({ status: null, error: 'address_not_allowed' });
	}
	expect(requests).toEqual([]);
	expect(JSON.stringify(log.lines)).not.toContain(settings.secret);
});

test('a receiver that does not respond within ten seconds is a timeout', async () => {
	const { url, requests } = await startReceiver(() => undefined);
	const clock = new ManualClock();
	const sent = sender(clock).send({ url });
	await eventually('it was received', () => (requests.length > 0 ? true : undefined));
	clock.advance(9_900);
	expect(await Promise.race([sent, new Promise((resolve) => setImmediate(() => resolve('waiting')))])).toBe('waiting');
	clock.advance(200);
	expect(await sent).toEqual({ status: null, error: 'timeout' });
});
