/** Products with a test's own configurations: any roles and any number of processes, as in a deployment. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launcher, type Running, type StartOptions, startProcess, temporaryDirectory } from './processes.ts';
import { eventually, fetchAccessToken, freePort } from './product.ts';

export const client = { id: 'agent', secret: 'secret-of-the-agent-0123456789' };

export type Settings = Readonly<Record<string, unknown>>;

/** Addresses and settings of a product whose providers are all the simulator. */
export interface Plan {
	readonly directory: string;
	readonly configPath: string;
	readonly gatewayUrl: string;
	readonly identityUrl: string;
	readonly simulatorUrl: string;
	readonly settings: Settings;
}

/** @param extra merged into the settings, section by section. */
export async function planProduct(extra: Settings = {}): Promise<Plan> {
	const directory = temporaryDirectory();
	const [gateway, identity, simulator] = [await freePort(), await freePort(), await freePort()];
	const simulatorUrl = `http://127.0.0.1:${simulator}`;
	const settings = overlay(
		{
			roles: ['edge', 'gateway', 'identity', 'simulator'],
			data_dir: join(directory, 'data'),
			gateway: { listen: `127.0.0.1:${gateway}` },
			identity: { listen: `127.0.0.1:${identity}`, clients: [{ ...client, scopes: ['invoke', 'admin'] }] },
			simulator: { listen: `127.0.0.1:${simulator}` },
			// Disables load shedding, because tests share the machine and a delayed process is not overload.
			edge: { overload: { loop_delay_ms: 60_000 } },
			teams: { unregistered_clients: { tier: 'enterprise' } },
			providers: simulatedProviders(simulatorUrl),
		},
		extra,
	);
	const configPath = join(directory, 'tollgate.json');
	writeSettings(configPath, settings);
	return {
		directory,
		configPath,
		gatewayUrl: `http://127.0.0.1:${gateway}`,
		identityUrl: `http://127.0.0.1:${identity}`,
		simulatorUrl,
		settings,
	};
}

export function simulatedProviders(simulatorUrl: string, apiKey = 'simulator-key'): Settings {
	const provider = { api_key: apiKey, allow_private_network: true };
	return {
		provider_a: { ...provider, base_url: `${simulatorUrl}/anthropic` },
		provider_b: { ...provider, base_url: `${simulatorUrl}/openai/v1` },
		provider_c: { ...provider, base_url: `${simulatorUrl}/gemini` },
		provider_d: { ...provider, base_url: `${simulatorUrl}/azure`, deployments: { 'team-deployment': {} } },
	};
}

/** Replaces the file atomically, as an editor does. */
export function writeSettings(path: string, settings: Settings): void {
	writeFileSync(`${path}.new`, JSON.stringify(settings, undefined, '\t'));
	renameSync(`${path}.new`, path);
}

export interface Deployment extends Running, Plan {
	accessToken(): Promise<string>;
}

/** Starts a planned product and waits until it is ready. */
export async function startPlan(plan: Plan, options: StartOptions & { readonly program?: readonly string[] } = {}): Promise<Deployment> {
	const [program = '', ...first] = options.program ?? [process.execPath, launcher];
	const running = startProcess(program, [...first, 'start', '--config', plan.configPath], options);
	await untilReady(plan.gatewayUrl, running);
	const accessToken = (): Promise<string> => fetchAccessToken(`${plan.identityUrl}/oauth2/token`, client);
	return Object.assign(Object.create(running) as Running, plan, { accessToken });
}

export async function startDeployment(extra: Settings = {}): Promise<Deployment> {
	return startPlan(await planProduct(extra));
}

export async function untilReady(url: string, running: Running): Promise<void> {
	await eventually(
		`${url}/readyz is 200; ${running.stderr}`,
		async () => {
			if (running.child.exitCode !== null) throw new Error(`ended with ${running.child.exitCode}: ${running.stderr}${running.stdout}`);
			return (await statusOf(`${url}/readyz`)) === 200 ? true : undefined;
		},
		45_000,
	);
}

/** Returns the status of a response; 0 without a response. */
export async function statusOf(url: string): Promise<number> {
	try {
		const response = await fetch(url);
		await response.arrayBuffer();
		return response.status;
	} catch {
		return 0;
	}
}

export interface RequestOptions {
	readonly format?: 'chat' | 'messages';
	readonly model?: string;
	readonly isStreaming?: boolean;
	readonly text?: string;
	readonly headers?: Record<string, string>;
	readonly signal?: AbortSignal;
}

/** Sends one inference request. */
export function call(url: string, accessToken: string, options: RequestOptions = {}): Promise<Response> {
	const { format = 'chat', isStreaming = false, text = 'Say hello.' } = options;
	const model = options.model ?? (format === 'chat' ? 'gpt-4o-mini' : 'claude-sonnet-4-5');
	const path = format === 'chat' ? '/v1/chat/completions' : '/v1/messages';
	return fetch(`${url}${path}`, {
		method: 'POST',
		headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', ...options.headers },
		body: JSON.stringify({ model, max_tokens: 2000, stream: isStreaming, messages: [{ role: 'user', content: text }] }),
		...(options.signal && { signal: options.signal }),
	});
}

/** Sends a request, reads the response, and returns its status. */
export async function requestStatus(url: string, accessToken: string, options: RequestOptions = {}): Promise<number> {
	const response = await call(url, accessToken, options);
	await response.arrayBuffer();
	return response.status;
}

function overlay(base: Settings, extra: Settings): Settings {
	const merged: Record<string, unknown> = { ...base };
	for (const [key, value] of Object.entries(extra)) {
		const own = merged[key];
		merged[key] = isSection(own) && isSection(value) ? overlay(own, value) : value;
	}
	return merged;
}

function isSection(value: unknown): value is Settings {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
