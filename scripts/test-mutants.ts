/**
 * `npm run test:mutants -- PATHS`: changes the sources in small ways, one at a time, and counts the changes that a unit test detects. No
 * file is written: a source is changed while it is loaded. Tests run in a separate process, because a change may cause an infinite loop.
 * When a test file exceeds its time limit, the process is killed and the change counts as detected.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, matchesGlob, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { configDefaults } from 'vitest/config';
import { createVitest } from 'vitest/node';
import { projects } from '../test/projects.ts';
import { type MutableSource, readMutants } from './mutants.ts';

const home = resolve(import.meta.dirname, '..');

const { values, positionals } = parseArgs({
	options: {
		sample: { type: 'string', default: '100' },
		seed: { type: 'string', default: '1' },
		seconds: { type: 'string', default: '20' },
		tests: { type: 'string', default: '**' },
		engines: { type: 'string', default: String(availableParallelism()) },
		root: { type: 'string', default: home },
		engine: { type: 'boolean', default: false },
	},
	allowPositionals: true,
});
const root = resolve(values.root);
const limitMs = Number(values.seconds) * 1000;

interface Source extends MutableSource {
	readonly path: string;
	readonly firstId: number;
}

interface TestFile {
	readonly path: string;
	readonly ms: number;
	/** Numbers of the mutants that the file executes. */
	readonly reached: ReadonlySet<number>;
	runs: number;
	noticed: number;
}

interface Order {
	readonly test: string;
	/** Number of a mutant; -1 for none. */
	readonly active: number;
}

interface Result {
	/** Message of the first failure. */
	readonly failure: string | undefined;
	readonly reached: readonly number[];
}

function readSources(): Source[] {
	const found = positionals.flatMap((path) =>
		statSync(join(root, path)).isDirectory() ? globSync('**/*.ts', { cwd: join(root, path) }).map((name) => join(path, name)) : [path],
	);
	let firstId = 0;
	return found
		.filter((path) => !/\.(test|contract)\.ts$/.test(path))
		.toSorted()
		.map((path) => {
			const source = { path: join(root, path), firstId, ...readMutants(readFileSync(join(root, path), 'utf8')) };
			firstId += source.mutants.length;
			return source;
		});
}

/** Main function of the process that runs tests: sends the test files that import a source, then runs one test file per message. */
async function runEngine(sources: readonly Source[]): Promise<void> {
	const byPath = new Map(sources.map((source) => [source.path, source]));
	const unit = root === home ? projects.find(({ name }) => name === 'unit') : undefined;
	const vitest = await createVitest(
		{
			root,
			config: false,
			watch: false,
			reporters: [],
			pool: 'threads',
			maxWorkers: 1,
			bail: 1,
			// Disabled: the cache on disk does not know which sources have mutants.
			fsModuleCache: false,
			testTimeout: limitMs,
			related: [...byPath.keys()],
			...(unit !== undefined && { include: [...unit.include], exclude: [...configDefaults.exclude, ...unit.exclude] }),
			setupFiles: [join(home, 'test/support/mutant-switch.ts')],
		},
		{
			plugins: [
				{
					name: 'mutants',
					enforce: 'pre',
					load(id: string) {
						const source = byPath.get(id);
						return source?.instrument(() => true, source.firstId);
					},
				},
			],
		},
	);
	process.once('disconnect', () => process.exit());
	const specifications = await vitest.getRelevantTestSpecifications();
	process.on('message', ({ test, active }: Order) => {
		vitest.getRootProject().provide('activeMutant', active);
		void vitest.runTestSpecifications(specifications.filter(({ moduleId }) => moduleId === test)).then((run) => {
			const unhandledErrors = run.unhandledErrors as Error[];
			// Filters: the test runner keeps the files and failures of earlier runs.
			const testModules = run.testModules.filter(({ moduleId }) => moduleId === test);
			vitest.state.clearErrors();
			const failed = testModules.flatMap((module) => [
				...module.errors(),
				...[...module.children.allTests('failed')].flatMap((one) => one.result().errors ?? []),
			]);
			const failure =
				[...unhandledErrors, ...failed][0]?.message ?? (testModules.every((module) => module.ok()) ? undefined : 'a hook fails');
			process.send?.({ failure, reached: testModules.flatMap((module) => module.meta().reachedMutants ?? []) } satisfies Result);
		});
	});
	process.send?.(specifications.map(({ moduleId }) => moduleId));
}

/** Process that runs test files one at a time. Restarted after one that exceeded the time limit. */
class Engine {
	#child: ChildProcess | undefined;

	/** Returns the test files that import a source. */
	async start(): Promise<string[]> {
		this.#child = fork(import.meta.filename, ['--engine', '--root', root, '--seconds', values.seconds, ...positionals], {
			stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
		});
		const [tests] = (await once(this.#child, 'message')) as [string[]];
		return tests;
	}

	/** Returns undefined after the time limit. */
	async run(order: Order, withinMs = limitMs): Promise<Result | undefined> {
		if (this.#child === undefined) await this.start();
		this.#child?.send(order);
		const response: Promise<unknown[]> =
			this.#child === undefined ? Promise.resolve([]) : once(this.#child, 'message', { signal: AbortSignal.timeout(withinMs) });
		const result = (await response.catch(() => [])) as Result[];
		if (result.length === 0) this.stop();
		return result[0];
	}

	stop(): void {
		this.#child?.kill('SIGKILL');
		this.#child = undefined;
	}
}

/** Processes the items in order, each with the first idle process. */
async function forEachWith<Item>(
	engines: readonly Engine[],
	items: readonly Item[],
	run: (engine: Engine, item: Item) => Promise<void>,
): Promise<void> {
	const rest = items.values();
	await Promise.all(
		engines.map(async (engine) => {
			for (const item of rest) await run(engine, item);
		}),
	);
}

/** Generates numbers from 0 to 1 from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

async function testMutants(sources: readonly Source[]): Promise<void> {
	const startedMs = performance.now();
	const random = randomFrom(Number(values.seed));
	const all = sources.flatMap((source) => source.mutants.map((mutant, index) => ({ source, mutant, id: source.firstId + index })));
	const drawn = all.map((one) => ({ one, rank: random() })).toSorted((left, right) => left.rank - right.rank);
	const sample = drawn
		.slice(0, Number(values.sample))
		.map(({ one }) => one)
		.toSorted((left, right) => left.id - right.id);

	const engines = Array.from({ length: Number(values.engines) }, () => new Engine());
	const [related = []] = await Promise.all(engines.map((engine) => engine.start()));
	const tests: TestFile[] = [];
	await forEachWith(
		engines,
		related.filter((path) => matchesGlob(relative(root, path), values.tests)),
		async (engine, path) => {
			const beganMs = performance.now();
			const result = await engine.run({ test: path, active: -1 }, limitMs / 2);
			if (result !== undefined && result.failure === undefined) {
				tests.push({ path, ms: performance.now() - beganMs, reached: new Set(result.reached), runs: 0, noticed: 0 });
			} else console.log(`skipped, no mutant: ${relative(root, path)} ${result?.failure ?? 'takes too long'}`);
		},
	);
	console.log(`${tests.length} files of tests, ${all.length} mutants`);

	const counts = { killed: 0, byTime: 0, survived: 0, unreached: 0 };
	await forEachWith(engines, sample, async (engine, { source, mutant, id }) => {
		const isBeside = (path: string): boolean => dirname(path) === dirname(source.path);
		const isNamed = (path: string): boolean => basename(path).startsWith(basename(source.path, '.ts'));
		const costs = new Map(
			tests
				.filter(({ reached }) => reached.has(id))
				.map((test) => {
					const { path, ms, runs, noticed } = test;
					return [test, (ms * (runs + 3)) / (noticed + Number(isBeside(path)) + Number(isNamed(path)) + 1)];
				}),
		);
		/** Sorts the test files by detected mutants per time, highest first. */
		const reaching = [...costs.keys()].toSorted((left, right) => (costs.get(left) ?? 0) - (costs.get(right) ?? 0));
		let outcome: 'killed' | 'byTime' | 'survived' = 'survived';
		for (const test of reaching) {
			const result = await engine.run({ test: test.path, active: id });
			test.runs += 1;
			if (result !== undefined && result.failure === undefined) continue;
			test.noticed += 1;
			outcome = result === undefined ? 'byTime' : 'killed';
			break;
		}
		counts[outcome] += 1;
		if (outcome !== 'survived') return;
		if (reaching.length === 0) counts.unreached += 1;
		const shorten = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 80);
		const position = `${relative(root, source.path)}:${mutant.line}:${mutant.column}`;
		console.log(
			`${reaching.length === 0 ? 'unreached' : 'survived'} ${position}  ${shorten(mutant.original)}  ->  ${shorten(mutant.replacement)}`,
		);
	});
	for (const engine of engines) engine.stop();
	const noticed = counts.killed + counts.byTime;
	const ofTime = `${((performance.now() - startedMs) / 1000).toFixed(0)} s`;
	console.log(
		`score ${((100 * noticed) / sample.length).toFixed(1)} %: ${noticed} of ${sample.length} mutants noticed (${counts.byTime} by the time they took), ` +
			`${counts.survived} survived (${counts.unreached} reached by no test), seed ${values.seed}, ${ofTime}`,
	);
}

const sources = readSources();
await (values.engine ? runEngine(sources) : testMutants(sources));
