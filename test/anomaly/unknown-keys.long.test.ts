/** A flood of tokens with unknown keys costs the issuer one fetch per cool-down, and does not slow down valid requests. */
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { print } from '../support/accounting-print.ts';
import { startDeployment } from '../support/deployment.ts';
import { compactToken, TestIssuer } from '../support/test-issuer.ts';

const strangers = 10_000;
const roundMs = 1000;
/** Number of rounds with the flood; as many run without it. */
const floodedRounds = 40;
const goodCallers = 4;
const pauseMs = 4;
const coolDownSeconds = 30;
const maxChange = 1.2;
/** Number of attempts, one of which must succeed: other processes of the machine may disturb one side. */
const attempts = 3;

test('10,000 unknown keys: one fetch per cool-down, and the p99 of valid requests changes by less than 20 %', async () => {
	const issuer = await TestIssuer.start();
	onTestFinished(() => issuer.stop());
	const product = await startDeployment({
		roles: ['edge', 'gateway', 'simulator'],
		auth: { issuer: issuer.issuer, key_set: { cool_down_seconds: coolDownSeconds } },
		edge: { firewall: { per_ip: { requests: 10_000_000 } } },
	});
	const call = openCaller(product.gatewayUrl);
	// Mix of cached and new tokens, as in production.
	const known = Array.from({ length: 200 }, () => issuer.accessToken());
	for (const accessToken of known) expect(await call(accessToken)).toBe(200);

	const changes: number[] = [];
	while (changes.length < attempts && (changes.at(-1) ?? Number.POSITIVE_INFINITY) >= maxChange) {
		const fetchedBefore = issuer.keySetRequests;
		const beganMs = performance.now();
		const took = { quiet: [] as number[], flooded: [] as number[] };
		for (let round = 0; round < 2 * floodedRounds; round++) {
			// Pairs in changing order, so that neither side is always first.
			const isFlooded = [true, false, false, true][round % 4] === true;
			const flood = isFlooded ? sendStrangers(call, issuer, strangers / floodedRounds) : undefined;
			took[isFlooded ? 'flooded' : 'quiet'].push(...(await callFor(call, issuer, known)));
			expect(new Set(await flood), 'every stranger is refused').toEqual(new Set(isFlooded ? [401] : undefined));
		}
		const seconds = (performance.now() - beganMs) / 1000;
		const fetches = issuer.keySetRequests - fetchedBefore;
		changes.push(p99(took.flooded) / p99(took.quiet));
		print(
			`${took.quiet.length} and ${took.flooded.length} good calls, p99 ${p99(took.quiet).toFixed(1)} ms without and ` +
				`${p99(took.flooded).toFixed(1)} ms with ${strangers} strangers: ${changes.at(-1)?.toFixed(2)}; ${fetches} fetches in ${seconds.toFixed(0)} s`,
		);
		expect(fetches).toBeLessThanOrEqual(Math.ceil(seconds / coolDownSeconds));
		expect(fetches, 'else no stranger was one').toBeGreaterThan(0);
	}
	expect(Math.min(...changes)).toBeLessThan(maxChange);
});

type Call = (accessToken: string) => Promise<number | undefined>;

function openCaller(url: string): Call {
	const agent = new Agent({ keepAlive: true });
	onTestFinished(() => agent.destroy());
	const body = JSON.stringify({ model: 'gpt-4o-mini', max_tokens: 20, messages: [{ role: 'user', content: 'Say hello.' }] });
	return (accessToken) =>
		new Promise((resolve, reject) => {
			const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', 'content-length': body.length };
			request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
				response.resume().once('end', () => resolve(response.statusCode));
			})
				.once('error', reject)
				.end(body);
		});
}

/** Sends the requests evenly over a round. */
async function sendStrangers(call: Call, issuer: TestIssuer, count: number): Promise<(number | undefined)[]> {
	const claims = issuer.claims();
	const responses: Promise<number | undefined>[] = [];
	const beganMs = performance.now();
	for (let index = 0; index < count; index++) {
		const header = issuer.header({ kid: randomBytes(12).toString('hex') });
		responses.push(call(compactToken(header, claims, () => randomBytes(256))));
		await sleep(Math.max(0, beganMs + ((index + 1) * roundMs) / count - performance.now()));
	}
	return Promise.all(responses);
}

/** Returns the duration of each request in ms. */
async function callFor(call: Call, issuer: TestIssuer, known: readonly string[]): Promise<number[]> {
	const took: number[] = [];
	const unseen = Array.from({ length: 10 }, () => issuer.accessToken());
	const endMs = performance.now() + roundMs;
	const work = async (): Promise<void> => {
		while (performance.now() < endMs) {
			const accessToken = unseen.pop() ?? known[took.length % known.length] ?? '';
			const beganMs = performance.now();
			expect(await call(accessToken)).toBe(200);
			took.push(performance.now() - beganMs);
			await sleep(pauseMs);
		}
	};
	await Promise.all(Array.from({ length: goodCallers }, work));
	return took;
}

function p99(values: readonly number[]): number {
	return values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99)] ?? Number.NaN;
}
