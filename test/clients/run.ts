/** `npm run clients`: real client programs against a started product whose providers are the simulator. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { agent, type Product, startProduct } from '../support/product.ts';
import { SimulatorControl } from '../support/simulator-control.ts';
import { type ClientRun, clientRuns } from './client-runs.ts';
import type { FeatureName } from './features.ts';
import { install } from './installs.ts';
import { type MatrixCell, notServed, renderMatrix } from './matrix.ts';

const models = ['gpt-5-mini', 'claude-sonnet-5', 'gemini-3-pro-preview'];

const usage = `Runs real client programs against a started product and prints a matrix of program, model and feature.

  npm run clients -- [option ...]

  --only NAME     only programs whose name contains this; may be repeated
  --model NAME    only this model; may be repeated: ${models.join(', ')}
  --json          print JSON
  --list          print the names of the programs

The first run installs the programs from npm and PyPI, at fixed versions, into TOLLGATE_CLIENTS_CACHE
(by default a folder of the temporary directory). They run with an empty home and without a network
except loopback. Exit code 1 means that a feature failed.
`;

/** True in the process that runs the programs, which has no network. */
const isIsolated = process.env['TOLLGATE_CLIENTS_ISOLATED'] === '1';

async function run(args: readonly string[]): Promise<number> {
	const { values } = parseArgs({
		args: [...args],
		options: {
			only: { type: 'string', multiple: true, default: [] },
			model: { type: 'string', multiple: true, default: models },
			json: { type: 'boolean', default: false },
			list: { type: 'boolean', default: false },
			help: { type: 'boolean', short: 'h', default: false },
		},
	});
	if (values.help) {
		process.stdout.write(usage);
		return 0;
	}
	const chosen = clientRuns.filter(({ name }) => values.only.length === 0 || values.only.some((part) => name.includes(part)));
	if (values.list || chosen.length === 0) {
		process[values.list ? 'stdout' : 'stderr'].write(`${clientRuns.map(({ name }) => name).join('\n')}\n`);
		return values.list ? 0 : 1;
	}
	if (!isIsolated) {
		for (const name of new Set(chosen.map((one) => one.install))) await install(name);
		return isolate(args);
	}
	const cells = await runAll(chosen, values.model);
	process.stdout.write(values.json ? `${JSON.stringify(cells, undefined, '\t')}\n` : renderMatrix(cells));
	return cells.some(({ result }) => result === 'failed') ? 1 : 0;
}

/** Runs this program again in a network namespace that has only loopback. */
async function isolate(args: readonly string[]): Promise<number> {
	const shell = 'ip link set lo up && exec "$@"';
	const child = spawn('unshare', ['-rn', 'sh', '-c', shell, 'sh', process.execPath, import.meta.filename, ...args], {
		env: { ...process.env, TOLLGATE_CLIENTS_ISOLATED: '1' },
		stdio: 'inherit',
	});
	const [code] = (await once(child, 'exit')) as [number | null];
	return code ?? 1;
}

async function runAll(chosen: readonly ClientRun[], chosenModels: readonly string[]): Promise<MatrixCell[]> {
	const product = await startProduct();
	try {
		await new SimulatorControl(product.simulatorUrl).change({ interval_ms: 0, first_byte_ms: 0, record_bodies: true });
		const cells: MatrixCell[] = [];
		for (const client of chosen) {
			for (const model of chosenModels) {
				const row = await runOne(product, client, model);
				const failures = row.filter(({ result }) => result === 'failed').map(({ feature, reason }) => `; ${feature}: ${reason}`);
				process.stderr.write(`${client.name}, ${model}: ${row.length - failures.length} of ${row.length} ok${failures.join('')}\n`);
				cells.push(...row);
			}
		}
		return cells;
	} finally {
		await product.stop();
	}
}

async function runOne(product: Product, client: ClientRun, model: string): Promise<MatrixCell[]> {
	const features = client.features(model);
	const accessToken = await product.accessToken();
	const endpointOf = (feature: FeatureName): string => (feature === 'embeddings' ? '/v1/embeddings' : client.endpoint);
	const results: Partial<Record<FeatureName, string | null>> = {};
	for (const feature of features) {
		if (!(await isServed(product, endpointOf(feature), accessToken))) results[feature] = notServed(endpointOf(feature));
	}
	const home = mkdtempSync(join(tmpdir(), 'tollgate-client-home-'));
	const served = features.filter((feature) => results[feature] === undefined);
	try {
		const { gatewayUrl, simulatorUrl, tokenEndpoint } = product;
		const credentials = { GATEWAY_CLIENT_ID: agent.id, GATEWAY_CLIENT_SECRET: agent.secret, GATEWAY_TOKEN_ENDPOINT: tokenEndpoint };
		const context = { home, gatewayUrl, simulatorUrl, accessToken, credentials };
		if (served.length > 0) Object.assign(results, await client.run(context, model, served));
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		Object.assign(results, Object.fromEntries(served.map((feature) => [feature, reason])));
	} finally {
		rmSync(home, { recursive: true, force: true });
	}
	return features.map((feature) => {
		const reason = results[feature] ?? null;
		return { program: client.name, model, feature, result: reason === null ? 'ok' : 'failed', reason };
	});
}

/** An unknown path is 404, before the body is read. */
async function isServed({ gatewayUrl }: Product, endpoint: string, accessToken: string): Promise<boolean> {
	const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
	const { status } = await fetch(`${gatewayUrl}${endpoint}`, { method: 'POST', headers, body: '{}' });
	return status !== 404;
}

process.exitCode = await run(process.argv.slice(2));
