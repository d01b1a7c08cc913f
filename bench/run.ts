/**
 * `npm run bench`: everything in one run on one machine, so that ratios hold whatever the machine does.
 * Writes bench/RESULTS.md. `--quick` measures shortly and writes nothing; `--only tollgate` leaves the peers out.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Latency, measureLatency } from './latency.ts';
import { quantile } from './quantile.ts';
import { renderReport } from './report.ts';
import { type Saturation, saturate } from './saturation.ts';
import { measureStreamMemory, measureStreams, type StreamCost } from './streams.ts';
import {
	preparePeers,
	type StartTarget,
	startBareProxy,
	startNginxProxy,
	startPortkey,
	startStreamUpstream,
	startTollgate,
	startTollgateApart,
	startWholeUpstream,
	type Target,
} from './targets.ts';
import { chatRequest } from './workloads.ts';

export interface Measurement {
	readonly name: string;
	readonly readyMs: number;
	readonly small: Saturation;
	readonly large: Saturation;
	/** At a quarter of the target's own saturation, and the same rate straight to the provider. */
	readonly latency: { rate: number; through: Latency; direct: Latency };
	/** Absent for a target that fails to relay this load. */
	readonly stream?: StreamCost;
	readonly streamMemoryBytes?: number;
}

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } } });
const seconds = values.quick ? 5 : 15;
/** What the provider and the load generator on its core can hold without waiting for each other. */
const highestRate = 4000;
const latencyRounds = 7;
const small = chatRequest(1024);
const large = chatRequest(100 * 1024);
const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));

/** Scripts of this folder whose output is a part of the report. */
const sections: Readonly<Record<string, readonly string[]>> = {
	Accounting: ['accounting.ts', 'ledger.ts'],
	Guardrails: ['guardrails.ts'],
	Translation: ['translation.ts'],
	Firewall: ['firewall.ts'],
	'Admin API': ['admin.ts'],
};

const starters: Record<string, StartTarget> = {
	nginx: startNginxProxy,
	bare: startBareProxy,
	portkey: startPortkey,
	tollgate: startTollgate,
};

try {
	preparePeers();
	const whole = await startWholeUpstream(directory);
	const streaming = await startStreamUpstream();
	const measurements: Measurement[] = [];
	try {
		const directStream = await measureStreams(streaming, streamLoad());
		for (const [name, start] of Object.entries(starters)) {
			if (values.only !== undefined && values.only !== name) continue;
			console.log(`measuring ${name}`);
			measurements.push(await measure(start, whole, streaming));
		}
		const together = measurements.find(({ name }) => name === 'Tollgate');
		const apart = await renderApart(whole, together);
		const report = renderReport(measurements, directStream, values.quick) + apart + renderSections();
		console.log(report);
		if (!values.quick && values.only === undefined) writeFileSync(join(import.meta.dirname, 'RESULTS.md'), report);
	} finally {
		await whole.stop();
		await streaming.stop();
	}
} finally {
	rmSync(directory, { recursive: true, force: true });
}

/** What the scripts say by themselves, while nothing else runs. */
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

/** Edge and gateway in processes of their own, on the same core, against both in one. */
async function renderApart(whole: Target, together: Measurement | undefined): Promise<string> {
	if (together === undefined) return '';
	console.log('measuring edge and gateway apart');
	const target = await startTollgateApart(whole.url, directory);
	try {
		const { cpuMicrosPerRequest } = await saturate(target, small, seconds, directory);
		const ratio = (cpuMicrosPerRequest / together.small.cpuMicrosPerRequest).toFixed(2);
		return `\nWith edge and gateway in processes of their own a request of 1 KB costs both together ${cpuMicrosPerRequest.toFixed(1)} us of CPU: ${ratio} times the single process.\n`;
	} finally {
		await target.stop();
	}
}

async function measure(start: StartTarget, whole: Target, streaming: Target): Promise<Measurement> {
	const target = await start(whole.url, directory);
	const readyMs = [target.readyMs];
	let onWhole: Omit<Measurement, 'stream' | 'streamMemoryBytes' | 'readyMs'>;
	try {
		const smallLoad = await saturate(target, small, seconds, directory);
		const largeLoad = await saturate(target, large, seconds, directory);
		const rate = Math.min(Math.floor(smallLoad.requestsPerSecond / 4), highestRate);
		const { direct, through } = await compareLatency(whole, target, rate);
		onWhole = { name: target.name, small: smallLoad, large: largeLoad, latency: { rate, through, direct } };
	} finally {
		await target.stop();
	}
	const relay = await start(streaming.url, directory);
	readyMs.push(relay.readyMs);
	try {
		await measureStreams(relay, { streams: 100, events: 100, intervalMs: 10 });
		const stream = await measureStreams(relay, streamLoad());
		const streamMemoryBytes = await measureStreamMemory(relay, 1000);
		return { ...onWhole, readyMs: Math.min(...readyMs), stream, streamMemoryBytes };
	} catch (cause) {
		if (target.name === 'Tollgate') throw cause;
		console.log(`${target.name} does not relay the streams: ${String(cause)}`);
		return { ...onWhole, readyMs: Math.min(...readyMs) };
	} finally {
		await relay.stop();
	}
}

/** In alternation, and the median of the rounds: the machine pauses too, now on one side, now on the other. */
async function compareLatency(whole: Target, target: Target, rate: number): Promise<{ direct: Latency; through: Latency }> {
	const rounds: { direct: Latency; through: Latency }[] = [];
	const read = (one: Target): Promise<Latency> => measureLatency(one, small, rate, values.quick ? 1 : 3, directory);
	// What is hot at this rate is compiled anew.
	await read(target);
	await read(target);
	for (let round = 0; round < latencyRounds; round++) {
		rounds.push({ direct: await read(whole), through: await read(target) });
	}
	const median = (select: (round: (typeof rounds)[number]) => number): number => quantile(rounds.map(select), 0.5);
	return {
		direct: { p50Ms: median(({ direct }) => direct.p50Ms), p99Ms: median(({ direct }) => direct.p99Ms) },
		through: { p50Ms: median(({ through }) => through.p50Ms), p99Ms: median(({ through }) => through.p99Ms) },
	};
}

function streamLoad(): { streams: number; events: number; intervalMs: number } {
	return { streams: 100, events: values.quick ? 50 : 200, intervalMs: 20 };
}
