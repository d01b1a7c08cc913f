/** Separate program: clients of one gateway at a steady rate, until it is stopped. Prints their observations as JSON. */
import { Agent, request as startRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SoakPlan {
	readonly gatewayUrl: string;
	/** Provider behind the gateway: every tenth request is also sent straight to it, to compare. */
	readonly simulatorUrl: string;
	readonly tokenUrl: string;
	readonly client: { readonly id: string; readonly secret: string };
	readonly perSecond: number;
	/** Number of streams open at any time. */
	readonly streams: number;
	/** Warm-up, whose durations are not counted. */
	readonly warmUpMs: number;
}

export interface SoakReport {
	readonly answered: number;
	readonly streamed: number;
	/** Failures and their counts. */
	readonly failures: Record<string, number>;
	/** Requests not sent because too many were in flight: this machine cannot sustain the rate. */
	readonly skipped: number;
	/** Milliseconds, since the end of the warm-up. */
	readonly gatewayP50: number;
	readonly gatewayP99: number;
	readonly directP50: number;
	readonly directP99: number;
}

const maxInFlight = 1000;
const reportEveryMs = 5000;
/** Interval of new access tokens, which expire after an hour. */
const tokenEveryMs = 1_500_000;
const streamedTokens = 100;
const streamIntervalMs = 200;

/** Histogram of durations in steps of a tenth of a millisecond, up to ten seconds. */
class Durations {
	readonly #counts = new Uint32Array(100_001);
	#total = 0;

	add(ms: number): void {
		const step = Math.min(Math.round(ms * 10), this.#counts.length - 1);
		this.#counts[step] = (this.#counts[step] ?? 0) + 1;
		this.#total++;
	}

	clear(): void {
		this.#counts.fill(0);
		this.#total = 0;
	}

	quantile(share: number): number {
		let left = this.#total * share;
		for (const [step, count] of this.#counts.entries()) {
			left -= count;
			if (left <= 0) return step / 10;
		}
		return Number.NaN;
	}
}

const plan = JSON.parse(process.argv[2] ?? '{}') as SoakPlan;
const agent = new Agent({ keepAlive: true });
const gateway = new Durations();
const direct = new Durations();
const failures: Record<string, number> = {};
const formats = [
	{ path: '/v1/chat/completions', model: 'gpt-4o-mini' },
	{ path: '/v1/messages', model: 'claude-sonnet-4-5' },
] as const;
const text = `Please write a short note for the team about the change of the build. Since last week the nightly job compiles every package
from a clean folder, which takes eleven minutes instead of four. We want to keep the clean folder, because twice in spring an old file
hid a mistake for days, but we would like the time back. Two ideas were mentioned at the meeting: to keep the downloaded packages
between runs, and to compile the three large ones side by side. The first one is simple and saves about five minutes. The second one
needs a larger machine, and nobody knows yet what that would cost. Explain both ideas in plain words, say which of them we try first and
why, and ask everybody to write down how long the job took on their branch, so that we can compare the numbers at the end of the month.
Keep it friendly, use no table, and end with the date of the next meeting, which is on a Thursday in the large room at ten.`;
let token = '';
let answered = 0;
let streamed = 0;
let skipped = 0;
let inFlight = 0;
let isOver = false;

function note(what: string): void {
	const failure = what.replaceAll(/req_\w+/g, 'req_');
	failures[failure] = (failures[failure] ?? 0) + 1;
}

interface LoadResponse {
	readonly status: number;
	readonly durationMs: number;
	/** End of the response. */
	readonly tail: string;
}

/** Sends a request. Status 0 has the error in place of the response. */
function post(url: string, key: string, body: string): Promise<LoadResponse> {
	const startMs = performance.now();
	return new Promise((resolve) => {
		const finish = (status: number, tail: string): void => resolve({ status, tail, durationMs: performance.now() - startMs });
		const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
		const request = startRequest(url, { method: 'POST', agent, headers }, (response) => {
			let tail = '';
			response.setEncoding('utf8');
			response.on('data', (piece: string) => (tail = (tail + piece).slice(-200)));
			response.on('end', () => finish(response.statusCode ?? 0, tail));
			response.on('error', (cause) => finish(0, `${response.statusCode}, then ${cause.message}`));
		});
		request.on('error', (cause) => finish(0, cause.message));
		request.end(body);
	});
}

const bodyOf = (model: string, isStreaming: boolean): string =>
	JSON.stringify({ model, max_tokens: 500, stream: isStreaming, messages: [{ role: 'user', content: text }] });

async function ask(index: number): Promise<void> {
	const { path, model } = formats[index % formats.length] ?? formats[0];
	inFlight++;
	const { status, durationMs, tail } = await post(`${plan.gatewayUrl}${path}`, token, bodyOf(model, false));
	inFlight--;
	answered++;
	if (status === 200) gateway.add(durationMs);
	else note(`${status} ${tail}`);
	if (index % 10 > 1) return;
	const { durationMs: plainMs } = await post(
		`${plan.simulatorUrl}${path === '/v1/messages' ? '/anthropic' : '/openai'}${path}`,
		'simulator-key',
		bodyOf(model, false),
	);
	direct.add(plainMs);
}

async function send(): Promise<void> {
	const startMs = performance.now();
	for (let sent = 0; !isOver; ) {
		for (const due = ((performance.now() - startMs) / 1000) * plan.perSecond; sent < due; sent++) {
			if (inFlight >= maxInFlight) skipped++;
			else void ask(sent);
		}
		await sleep(5);
	}
}

async function stream(index: number): Promise<void> {
	// Staggers the streams.
	await sleep((index / plan.streams) * streamedTokens * streamIntervalMs);
	while (!isOver) {
		const model = `gpt-sim-tokens-${streamedTokens}-interval-${streamIntervalMs}`;
		const { status, tail } = await post(`${plan.gatewayUrl}/v1/chat/completions`, token, bodyOf(model, true));
		streamed++;
		if (status !== 200 || !tail.endsWith('data: [DONE]\n\n')) note(`stream: ${status} ${tail}`);
	}
}

async function renewToken(): Promise<void> {
	const { id, secret } = plan.client;
	const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret });
	const response = await fetch(plan.tokenUrl, { method: 'POST', body: form });
	({ access_token: token } = (await response.json()) as { access_token: string });
}

function report(): void {
	const measurements: SoakReport = {
		answered,
		streamed,
		failures,
		skipped,
		gatewayP50: gateway.quantile(0.5),
		gatewayP99: gateway.quantile(0.99),
		directP50: direct.quantile(0.5),
		directP99: direct.quantile(0.99),
	};
	process.stdout.write(`${JSON.stringify(measurements)}\n`);
}

await renewToken();
process.on('SIGTERM', () => (isOver = true));
const timers = [setInterval(report, reportEveryMs), setInterval(() => void renewToken(), tokenEveryMs)];
setTimeout(() => {
	gateway.clear();
	direct.clear();
}, plan.warmUpMs).unref();
await Promise.all([send(), ...Array.from({ length: plan.streams }, (_, index) => stream(index))]);
while (inFlight > 0) await sleep(20);
for (const timer of timers) clearInterval(timer);
report();
agent.destroy();
