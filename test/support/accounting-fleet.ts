/** Gateways as separate processes that share one ledger, and one process with the identity provider and the simulator. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { SimulatorBill } from './accounting-bill.ts';
import { type Settings, simulatedProviders, writeSettings } from './deployment.ts';
import type { MovableClock } from './movable-clock.ts';
import { launcher } from './processes.ts';
import { eventually, fetchAccessToken, freePort } from './product.ts';
import { requireProgram } from './system-programs.ts';

export interface TeamPlan {
	readonly rpm?: number;
	readonly dailyTokens?: number;
	readonly monthlyBudgetUsd?: string;
}

export interface FleetPlan {
	/** Teams by name. Each has a client and a tier of the same name. */
	readonly teams: Readonly<Record<string, TeamPlan>>;
	/** Errors of the gateways' clocks in seconds; the number of entries is the number of gateways. */
	readonly clockErrors?: readonly number[];
	/** Clock of all processes. */
	readonly clock?: MovableClock;
	/** Redis URL, or `memory`. */
	readonly counters?: string;
	readonly budgets?: Settings;
	/**
	 * Lowers the priority of these processes, so that they wait for a core and the counter store does not. Seven processes at full load on
	 * two cores would delay the store, and requests would pass uncounted.
	 */
	readonly transfersReservation?: boolean;
	/** Settings of the section `responses`. */
	readonly responses?: Settings;
	/** Settings of the section `gateway`. */
	readonly gateway?: Settings;
	/** Roles of the gateway processes. */
	readonly roles?: readonly string[];
}

export interface Gateway {
	readonly url: string;
	/** Lines of its log so far, of all its runs. */
	readonly log: readonly Record<string, unknown>[];
	/** Kills the process without a shutdown. */
	kill(): Promise<void>;
	/** Starts the process after `kill`. Resolves when it is ready. */
	start(): Promise<void>;
}

export interface Fleet {
	readonly gateways: readonly Gateway[];
	readonly simulator: SimulatorBill;
	/** Directory of the ledger and the records. */
	readonly dataDir: string;
	tokenOf(team: string): string;
	close(): Promise<void>;
}

interface Started {
	readonly child: ChildProcess;
	readonly ended: Promise<void>;
	kill(): void;
}

const niceness = 4;

const secret = 'secret-of-every-team-0123456789';

export async function startFleet(plan: FleetPlan): Promise<Fleet> {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-accounting-'));
	const started: Started[] = [];
	const close = async (): Promise<void> => {
		for (const one of started) one.kill();
		await Promise.all(started.map(({ ended }) => ended));
		rmSync(directory, { recursive: true, force: true });
	};
	try {
		const start = (name: string, settings: Settings, clockError: number, log: Record<string, unknown>[]): Started => {
			const path = join(directory, `${name}.json`);
			writeSettings(path, settings);
			const process = startProcess(path, clockError, log, plan.clock?.environment);
			started.push(process);
			return process;
		};
		const [identityPort, simulatorPort] = [await freePort(), await freePort()];
		const identityUrl = `http://127.0.0.1:${identityPort}`;
		const simulatorUrl = `http://127.0.0.1:${simulatorPort}`;
		start('hub', hubSettings(plan, directory, identityPort, simulatorPort), 0, []);
		const dataDir = join(directory, 'shared');
		const shared = { ...gatewaySettings(plan, identityUrl, simulatorUrl), data_dir: dataDir };
		await eventually('the identity is there', () => isOk(`${identityUrl}/.well-known/jwks.json`), 20_000);
		const gateways = [];
		for (const [index, clockError] of (plan.clockErrors ?? [0]).entries()) {
			const listen = `127.0.0.1:${await freePort()}`;
			gateways.push(
				createGateway(listen, (log) => start(`gateway-${index}`, { ...shared, gateway: { ...plan.gateway, listen } }, clockError, log)),
			);
		}
		await Promise.all(gateways.map((gateway) => gateway.start()));
		if (plan.transfersReservation === true) for (const { child } of started) transferReservation(child);
		const tokens = new Map<string, string>();
		for (const team of Object.keys(plan.teams)) {
			tokens.set(team, await fetchAccessToken(`${identityUrl}/oauth2/token`, { id: team, secret }));
		}
		const tokenOf = (team: string): string => tokens.get(team) ?? 'no.such.team';
		return { gateways, simulator: new SimulatorBill(simulatorUrl), dataDir, tokenOf, close };
	} catch (cause) {
		await close();
		throw cause;
	}
}

function createGateway(listen: string, launch: (log: Record<string, unknown>[]) => Started): Gateway {
	const log: Record<string, unknown>[] = [];
	const url = `http://${listen}`;
	let running: Started | undefined;
	return {
		url,
		log,
		async kill() {
			running?.kill();
			await running?.ended;
		},
		async start() {
			running = launch(log);
			const { child } = running;
			await eventually(
				`${url}/readyz is 200; ${JSON.stringify(log.slice(-3))}`,
				() => {
					if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}: ${JSON.stringify(log)}`);
					return isOk(`${url}/readyz`);
				},
				20_000,
			);
		},
	};
}

function hubSettings(plan: FleetPlan, directory: string, identityPort: number, simulatorPort: number): Settings {
	return {
		roles: ['identity', 'simulator'],
		data_dir: join(directory, 'hub'),
		identity: {
			listen: `127.0.0.1:${identityPort}`,
			clients: Object.keys(plan.teams).map((id) => ({ id, secret, scopes: ['invoke'] })),
		},
		simulator: { listen: `127.0.0.1:${simulatorPort}` },
		providers: simulatedProviders(`http://127.0.0.1:${simulatorPort}`),
	};
}

function gatewaySettings(plan: FleetPlan, identityUrl: string, simulatorUrl: string): Settings {
	const teams = Object.entries(plan.teams);
	const tiers = teams.map(([name, { rpm = null, dailyTokens = null, monthlyBudgetUsd = null }]) => [
		name,
		{ rpm, daily_tokens: dailyTokens, monthly_budget_usd: monthlyBudgetUsd },
	]);
	return {
		roles: plan.roles ?? ['gateway'],
		auth: { issuer: identityUrl, jwks_uri: `${identityUrl}/.well-known/jwks.json`, clock_skew_seconds: 30 },
		tiers: Object.fromEntries(tiers) as Settings,
		teams: { unregistered_clients: 'reject', registered: teams.map(([id]) => ({ id, tier: id, client_ids: [id] })) },
		// Disables load shedding, because tests share the machine and a delayed process is not overload.
		edge: { firewall: { per_ip: { requests: 10_000_000 } }, overload: { loop_delay_ms: 60_000 } },
		providers: simulatedProviders(simulatorUrl),
		stores: { counters: plan.counters ?? 'memory' },
		...(plan.budgets && { budgets: plan.budgets }),
		...(plan.responses && { responses: plan.responses }),
	};
}

function startProcess(
	configPath: string,
	clockError: number,
	log: Record<string, unknown>[],
	clock: MovableClock['environment'] = {},
): Started {
	const program = [process.execPath, launcher, 'start', '--config', configPath];
	const [command = '', ...args] = clockError === 0 ? program : ['faketime', '-m', '-f', wrongBy(clockError), ...program];
	if (clockError !== 0) requireProgram('faketime');
	const child = spawn(command, args, {
		env: {
			PATH: process.env['PATH'],
			HOME: tmpdir(),
			// Shifts only the time of day; timers run normally.
			FAKETIME_DONT_FAKE_MONOTONIC: '1',
			...clock,
		},
		stdio: ['ignore', 'pipe', 'pipe'],
		// Separate group, because `faketime` runs the gateway as a child.
		detached: true,
	});
	let rest = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		const lines = (rest + text).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) if (line.startsWith('{')) log.push(JSON.parse(line) as Record<string, unknown>);
	});
	child.stderr.setEncoding('utf8').on('data', (text: string) => void log.push({ stderr: text }));
	return { child, ended: new Promise((resolve) => child.once('close', () => resolve())), kill: () => killGroup(child) };
}

function transferReservation({ pid }: ChildProcess): void {
	if (pid === undefined) return;
	setPriority(pid, niceness);
	try {
		// Sets the niceness of the session too, because Linux with autogroups distributes CPU time by session first.
		writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
	} catch {
		// Kernel without autogroups.
	}
}

function killGroup({ pid }: ChildProcess): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, 'SIGKILL');
	} catch {
		// Process has exited.
	}
}

function wrongBy(seconds: number): string {
	return seconds < 0 ? `${seconds}s` : `+${seconds}s`;
}

async function isOk(url: string): Promise<true | undefined> {
	try {
		const response = await fetch(url);
		await response.arrayBuffer();
		return response.status === 200 ? true : undefined;
	} catch {
		return undefined;
	}
}
