import { cpus, totalmem } from 'node:os';
import type { Latency } from './latency.ts';
import { cores } from './processes.ts';
import type { Measurement, NonStreamingResponses } from './run.ts';
import type { Saturation } from './saturation.ts';
import type { StreamPair } from './streams.ts';

/** Title, measured value of a target, and digits after the decimal point. */
type Row = [title: string, read: (one: Measurement) => number | undefined, digits: number];

/** Renders the report. The second argument is the saturation of Tollgate with edge and gateway in separate processes. */
export function renderReport(measurements: readonly Measurement[], apart: Saturation | undefined, isQuick: boolean): string {
	const tollgate = measurements.find((one) => one.name === 'Tollgate');
	const rows: Row[] = [
		...rowsOf('1 KB', (one) => one.small),
		...rowsOf('100 KB', (one) => one.large),
		['CPU a relayed event (us)', (one) => one.stream?.through.cpuMicrosPerEvent, 1],
		['added delay of an event p50 (ms)', (one) => added(one.stream, 'delayP50Ms'), 2],
		['added delay of an event p99 (ms)', (one) => added(one.stream, 'delayP99Ms'), 2],
		['added time to the first event p50 (ms)', (one) => added(one.stream, 'firstEventP50Ms'), 2],
		['resident memory per open stream (KB)', (one) => (one.streamMemoryBytes === undefined ? undefined : one.streamMemoryBytes / 1024), 0],
		['ready after (ms)', (one) => one.readyMs, 0],
	];
	const header = ['', ...measurements.map((one) => one.name)];
	if (tollgate !== undefined) header.push(...measurements.filter((one) => one !== tollgate).map((one) => `Tollgate / ${one.name}`));
	const lines = rows.map(([label, read, digits]) => {
		const cells = measurements.map((one) => read(one)?.toFixed(digits) ?? '-');
		const ratios =
			tollgate === undefined ? [] : measurements.filter((one) => one !== tollgate).map((one) => ratio(read(tollgate), read(one)));
		return row([label, ...cells, ...ratios]);
	});
	return `# Bench results

Made by \`npm run bench\`${isQuick ? ' -- --quick' : ''} in one run on ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}. What is measured runs ${cores === undefined ? 'unpinned' : `on core ${cores.target} alone, load and fake provider on core ${cores.load}`}. Absolute figures belong to this machine; ratios travel.

${row(header)}
${row(header.map(() => '---'))}
${lines.join('\n')}
${renderTargets(measurements)}
How it is measured: the fake provider of whole answers is nginx with a fixed body; load by wrk with 32 connections, after three seconds of warm-up, of each target the least disturbed of seven rounds in alternation, each after a second that does not count; CPU is the process's own user and system time divided by the requests it served. Latency: 64 connections that pause at random, together at a quarter of the target's own saturation and at most 4,000 requests a second, minus the same load sent straight to the provider: of seven rounds of all targets in alternation, each after a second that does not count, the median of those, at least half, in which the hypervisor took the cores away least. Streams: 100 that begin within a second, an event each 20 ms, each event stamped when the provider wrote it, minus the same load sent straight to the provider: of five rounds of all targets in alternation the median of delays and the least of CPU. Memory: 1,000 streams open and idle. Ready: the sooner of two starts, so that Tollgate's compiled code is there from the one before. Tollgate runs edge, gateway and identity in one process with token check, per-IP limit, limits, budgets, ledger and request log on, all its threads on that one core; nginx and the bare proxy check nothing and log nothing. Portkey 1.15.2 is run with the same Node, and with @hono/node-server 1.14.1: with those since 1.14.2, which npm would choose, it answers each stream with status 500, and whole answers take it no less.
${renderStandalone(tollgate, apart)}`;
}

function renderStandalone(tollgate: Measurement | undefined, apart: Saturation | undefined): string {
	if (tollgate === undefined || apart === undefined) return '';
	const times = (apart.cpuMicrosPerRequest / tollgate.small.saturation.cpuMicrosPerRequest).toFixed(2);
	return `
With edge and gateway in processes of their own a request of 1 KB costs both together ${apart.cpuMicrosPerRequest.toFixed(1)} us of CPU: ${times} times the single process.
`;
}

function rowsOf(size: string, read: (one: Measurement) => NonStreamingResponses): Row[] {
	const addedLatency = (one: Measurement, measurement: keyof Latency): number =>
		read(one).latency.through[measurement] - read(one).latency.direct[measurement];
	return [
		[`CPU a request, ${size} body (us)`, (one) => read(one).saturation.cpuMicrosPerRequest, 1],
		[`requests a second, ${size} body`, (one) => read(one).saturation.requestsPerSecond, 0],
		[`added latency p50 at a quarter of saturation, ${size} body (ms)`, (one) => addedLatency(one, 'p50Ms'), 2],
		[`added latency p99 at a quarter of saturation, ${size} body (ms)`, (one) => addedLatency(one, 'p99Ms'), 2],
	];
}

interface Bound {
	readonly what: string;
	readonly of: (tollgate: Measurement, other: (name: string) => Measurement | undefined) => number | undefined;
	readonly unit: string;
	readonly digits: number;
	readonly atMost?: number;
	readonly atLeast?: number;
}

/** Targets for the version without a ledger. */
const firstTargets: readonly Bound[] = [
	{
		what: 'CPU a request of 1 KB, of that of nginx',
		of: (tollgate, other) => quotient(tollgate, other('nginx'), (one) => one.small.saturation.cpuMicrosPerRequest),
		unit: 'times',
		digits: 2,
		atMost: 4,
	},
	{
		what: 'requests of 1 KB a second, of those of Portkey',
		of: (tollgate, other) => quotient(tollgate, other('Portkey'), (one) => one.small.saturation.requestsPerSecond),
		unit: 'times',
		digits: 2,
		atLeast: 10,
	},
	{
		what: 'added latency p99 at a quarter of saturation, 1 KB',
		of: ({ small: { latency } }) => latency.through.p99Ms - latency.direct.p99Ms,
		unit: 'ms',
		digits: 2,
		atMost: 1,
	},
	{ what: 'ready after', of: ({ readyMs }) => readyMs, unit: 'ms', digits: 0, atMost: 1500 },
	{
		what: 'resident memory per open stream',
		of: ({ streamMemoryBytes }) => (streamMemoryBytes === undefined ? undefined : streamMemoryBytes / 1024),
		unit: 'KB',
		digits: 0,
		atMost: 60,
	},
];

function renderTargets(measurements: readonly Measurement[]): string {
	const named = (name: string): Measurement | undefined => measurements.find((one) => one.name === name);
	const ours = ['Tollgate', 'Tollgate without its ledger'].flatMap((name) => named(name) ?? []);
	if (ours.length === 0) return '';
	const lines = firstTargets.map(({ what, of, unit, digits, atMost, atLeast }) => {
		const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
		const cells = ours.map((one) => {
			const measurement = of(one, named);
			if (measurement === undefined) return '-';
			const isMet = measurement <= (atMost ?? Number.POSITIVE_INFINITY) && measurement >= (atLeast ?? Number.NEGATIVE_INFINITY);
			return `${measurement.toFixed(digits)} ${isMet ? 'met' : 'missed'}`;
		});
		return row([what, `${bound} ${unit}`, ...cells]);
	});
	const header = ['first targets', 'bound', ...ours.map(({ name }) => name)];
	return `
${row(header)}
${row(header.map(() => '---'))}
${lines.join('\n')}

The first targets were set for what Tollgate did before it had a ledger: token check, firewall, passthrough, log. Without its ledger it is the same program, but rows of calls are dropped (\`bench/drop-entries.ts\`).
`;
}

function quotient(own: Measurement, other: Measurement | undefined, read: (one: Measurement) => number): number | undefined {
	return other === undefined ? undefined : read(own) / read(other);
}

function row(cells: readonly string[]): string {
	return `| ${cells.join(' | ')} |`;
}

function ratio(own: number | undefined, other: number | undefined): string {
	return own !== undefined && other !== undefined && other > 0 && own > 0 ? (own / other).toFixed(2) : '-';
}

function added(pair: StreamPair | undefined, measurement: keyof StreamPair['through']): number | undefined {
	return pair === undefined ? undefined : pair.through[measurement] - pair.direct[measurement];
}
