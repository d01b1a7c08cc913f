/**
 * `npm run bench`: all measurements in one run on one machine, so that ratios do not depend on its load. Writes bench/RESULTS.md. `--quick`
 * measures briefly and writes nothing; `--only tollgate` omits the peers.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareLatencies, type LatencyPair } from './latency.ts';
import { renderReport } from './report.ts';
import { type Saturation, saturateInOrder } from './saturation.ts';
import { compareStreams, measureStreamMemory, type StreamPair } from './streams.ts';
import {
	preparePeers,
	type StartTarget,
	startBareProxy,
	startNginxProxy,
	startNonStreamingUpstream,
	startPortkey,
	startStandaloneTollgate,
	startStreamUpstream,
	startTollgate,
	startTollgateWithoutLedger,
	type Target,
} from './targets.ts';
import { chatRequest } from './workloads.ts';

export interface Measurement {
	readonly name: string;
	readonly readyMs: number;
	readonly small: NonStreamingResponses;
	readonly large: NonStreamingResponses;
	/** Undefined for a target that fails to relay this load. */
	readonly stream: StreamPair | undefined;
	readonly streamMemoryBytes: number | undefined;
}

/** Results for requests of one size. */
export interface NonStreamingResponses {
	readonly saturation: Saturation;
	/** Latency at a quarter of the target's own saturation, and at the same rate straight to the provider. */
	readonly latency: LatencyPair;
}

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
/** Duration of a round of load. */
const seconds = values.quick ? 1 : 3;
/** Highest rate at which the provider and the load generator on its core do not delay each other. */
const highestRate = 4000;
const latencyRounds = 7;
const small = chatRequest(1024);
const large = chatRequest(100 * 1024);
const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));

/** Scripts of this folder whose output is part of the report. */
const sections: Readonly<Record<string, readonly string[]>> = {
	Accounting: ['accounting.ts', 'ledger.ts'],
	Guardrails: ['guardrails.ts', 'events.ts'],
	Translation: ['translation.ts'],
	Firewall: ['firewall.ts'],
	'Admin API': ['admin.ts'],
};

const starters: Record<string, StartTarget> = {
	nginx: startNginxProxy,
	bare: startBareProxy,
	portkey: startPortkey,
	tollgate: startTollgate,
	'without-ledger': startTollgateWithoutLedger,
};

try {
	preparePeers();
	const whole = await startNonStreamingUpstream(directory);
	const streaming = await startStreamUpstream();
	try {
		const names = Object.keys(starters).filter((name) => values.only === undefined || values.only === name);
		const { responses, apart } = await measureResponses(names, whole);
		const measurements = await addStreams(names, responses, streaming);
		const report = renderReport(measurements, apart, values.quick) + renderSections();
		console.log(report);
		if (!values.quick && values.only === undefined) writeFileSync(join(import.meta.dirname, 'RESULTS.md'), report);
	} finally {
		await whole.stop();
		await streaming.stop();
	}
} finally {
	rmSync(directory, { recursive: true, force: true });
}

/** Output of the scripts, which run one after the other on an otherwise idle machine. */
function renderSections(): string {
	return Object.entries(sections)
		.map(([title, scripts]) => {
			const outputs = scripts.map((script) => {
				console.log(`measuring ${script}`);
				return execFileSync(process.execPath, [join(import.meta.dirname, script)], { encoding: 'utf8' }).trim();
			});
			const commands = scripts.map((script) => `\`node bench/${script}\``).join(', then ');
			return `\n## ${title}\n\n${commands}:\n\n\`\`\`\n${outputs.join('\n\n')}\n\`\`\`\n`;
		})
		.join('');
}

type ResponseTotals = Omit<Measurement, 'stream' | 'streamMemoryBytes'>;

/**
 * Starts all targets and loads one at a time.
 * @returns with them the saturation of Tollgate in two processes.
 */
async function measureResponses(
	names: readonly string[],
	whole: Target,
): Promise<{ responses: readonly ResponseTotals[]; apart: Saturation | undefined }> {
	const targets: Target[] = [];
	try {
		for (const name of names) targets.push(await (starters[name] ?? startTollgate)(whole.url, directory));
		if (names.includes('tollgate')) targets.push(await startStandaloneTollgate(whole.url, directory));
		console.log('measuring requests of 1 KB');
		const smallLoads = await saturateInOrder(targets, small, seconds, directory);
		for (const apart of targets.splice(names.length)) await apart.stop();
		console.log('measuring requests of 100 KB');
		const largeLoads = await saturateInOrder(targets, large, seconds, directory);
		console.log('measuring latency of 1 KB');
		const smallResponses = await addLatencies(targets, smallLoads, whole, small);
		console.log('measuring latency of 100 KB');
		const largeResponses = await addLatencies(targets, largeLoads, whole, large);
		const responses = targets.flatMap(({ name, readyMs }, index): ResponseTotals[] => {
			const [ofSmall, ofLarge] = [smallResponses[index], largeResponses[index]];
			return ofSmall === undefined || ofLarge === undefined ? [] : [{ name, readyMs, small: ofSmall, large: ofLarge }];
		});
		return { responses, apart: smallLoads[names.length] };
	} finally {
		for (const target of targets) await target.stop();
	}
}

async function addLatencies(
	targets: readonly Target[],
	saturations: readonly Saturation[],
	whole: Target,
	body: string,
): Promise<NonStreamingResponses[]> {
	const loads = targets.flatMap((target, index) => {
		const saturation = saturations[index];
		if (saturation === undefined) return [];
		return [{ target, saturation, rate: Math.min(Math.floor(saturation.requestsPerSecond / 4), highestRate) }];
	});
	const latencies = await compareLatencies(whole, loads, { rounds: latencyRounds, seconds, body, directory });
	return loads.flatMap(({ saturation }, index) => {
		const latency = latencies[index];
		return latency === undefined ? [] : [{ saturation, latency }];
	});
}

/** Starts all targets again, before a provider that streams. */
async function addStreams(names: readonly string[], responses: readonly ResponseTotals[], streaming: Target): Promise<Measurement[]> {
	const relays: Target[] = [];
	try {
		for (const name of names) relays.push(await (starters[name] ?? startTollgate)(streaming.url, directory));
		console.log('measuring streams');
		const load = { streams: 100, events: values.quick ? 50 : 200, intervalMs: 20, rounds: values.quick ? 1 : 5 };
		const streams = await compareStreams(streaming, relays, load);
		const measurements: Measurement[] = [];
		for (const [index, measured] of responses.entries()) {
			const [relay, stream] = [relays[index], streams[index]];
			if (relay === undefined) continue;
			const readyMs = Math.min(measured.readyMs, relay.readyMs);
			const streamMemoryBytes = stream === undefined ? undefined : await measureStreamMemory(relay, 1000);
			measurements.push({ ...measured, readyMs, stream, streamMemoryBytes });
		}
		return measurements;
	} finally {
		for (const relay of relays) await relay.stop();
	}
}
