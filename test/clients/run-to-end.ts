import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Home of a client program, and the addresses of a started product. */
export interface ClientContext {
	readonly home: string;
	readonly gatewayUrl: string;
	readonly simulatorUrl: string;
	readonly accessToken: string;
	/** Variables of the token command. */
	readonly credentials: Readonly<Record<string, string>>;
}

export interface ProgramResult {
	readonly code: number;
	readonly stdout: string;
	readonly stderr: string;
}

/** Runs a program in the folder `work` of its home, with no variables of this process except `PATH`. Kills it after five minutes. */
export function runToEnd(
	program: string,
	args: readonly string[],
	{ home, gatewayUrl, simulatorUrl, credentials }: ClientContext,
	variables: Readonly<Record<string, string>> = {},
): Promise<ProgramResult> {
	const cwd = join(home, 'work');
	mkdirSync(cwd, { recursive: true });
	const env = {
		PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(':'),
		HOME: home,
		GATEWAY_URL: gatewayUrl,
		SIMULATOR_URL: simulatorUrl,
		TOLLGATE_CLIENT: new URL('../../src/client/index.ts', import.meta.url).href,
		// LiteLLM otherwise downloads its price list.
		LITELLM_LOCAL_MODEL_COST_MAP: 'True',
		...credentials,
		...variables,
	};
	return new Promise((resolve) => {
		const child = execFile(
			program,
			args,
			{ cwd, env, timeout: 300_000, killSignal: 'SIGKILL', maxBuffer: 2 ** 26 },
			(error, stdout, stderr) => {
				const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
				resolve({ code, stdout, stderr: stderr || (code === -1 ? (error?.message ?? '') : '') });
			},
		);
		child.stdin?.end();
	});
}
