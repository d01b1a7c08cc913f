/** What the commands need of the world and of the other parts; wired where the program is composed. */
import type { RoleName } from '../core/handler.ts';

export interface CliEnvironment {
	readonly version: string;
	readonly stdout: CliOutput;
	readonly stderr: CliOutput;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly operations: CliOperations;
}

/** Gives the task of the chosen command its environment and keeps its exit code. */
export type RunTask = (task: (environment: CliEnvironment) => Promise<number>) => Promise<void>;

export interface CliOutput {
	readonly isTty: boolean;
	/** Resolves when the text has been handed over, or when the reader has gone. Rejects when it could not be written. */
	write(text: string): Promise<void>;
}

/** Each may throw `CommandFailure`, or a `Refusal` for what the user got wrong. */
export interface CliOperations {
	/** Returns when the program has stopped. @returns the exit code. */
	start(options: StartOptions): Promise<number>;
	/** Returns when the simulator has stopped. @returns the exit code. */
	simulate(options: SimulateOptions): Promise<number>;
	/** Of the demo whose data is in the working directory, as the variables of the token helper. @throws CommandFailure 1 where there is none. */
	demoCredentials(): Promise<DemoCredentials>;
	/** The admin API at an address, or over the stores of the configuration, which a running server may have open too. */
	openAdmin(options: AdminOptions): Promise<AdminApi>;
	openClients(options: AdminOptions): Promise<ClientOperations>;
	/** Brings the stores' schema up to date. */
	migrate(options: ConfigOptions): Promise<readonly { readonly part: string; readonly fromVersion: number; readonly toVersion: number }[]>;
	doctor(options: DoctorOptions): Promise<DoctorCheck[]>;
}

export interface DemoCredentials {
	readonly GATEWAY_CLIENT_ID: string;
	readonly GATEWAY_CLIENT_SECRET: string;
	readonly GATEWAY_TOKEN_ENDPOINT: string;
}

export interface ConfigOptions {
	readonly configPath?: string;
}

export interface AdminOptions extends ConfigOptions {
	/** Of a running admin API. */
	readonly url?: string;
	/** True: the data directory need not exist yet. */
	readonly mayCreate?: boolean;
}

export interface AdminRequest {
	readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
	/** With its query. */
	readonly path: string;
	readonly headers?: Readonly<Record<string, string>>;
	/** Sent as JSON. */
	readonly body?: Readonly<Record<string, unknown>>;
}

export interface AdminApi {
	/** For messages. */
	readonly name: string;
	request(
		request: AdminRequest,
	): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string }>;
	close(): Promise<void>;
}

export const doctorParts = ['ledger'] as const;

export interface DoctorOptions extends ConfigOptions {
	/** What alone is looked at, thoroughly. */
	readonly part?: (typeof doctorParts)[number];
}

export interface StartOptions extends ConfigOptions {
	/** Instead of the configuration's `roles`. */
	readonly roles?: readonly RoleName[];
	/** Without a configuration file: the demo configuration, with its team, client and simulated providers. */
	readonly isDemo: boolean;
	readonly logLevel?: LogLevel;
	/** Instead of the configuration's `log.format`. */
	readonly logFormat?: LogFormat;
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ['auto', 'json', 'text'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface SimulateOptions {
	/** `host:port`. */
	readonly listen: string;
	/** Between two events of a stream. */
	readonly intervalMs: number;
	/** `auto` unless given. */
	readonly logFormat?: LogFormat;
}

export interface ClientOperations {
	/** @returns `id_taken` when another client has the id; nothing changed then. */
	create(input: NewClient): Promise<CreatedClient | 'id_taken'>;
	list(): Promise<readonly ListedClient[]>;
	/** The old secret stays valid for `overlapSeconds`. @returns undefined when there is no such client. */
	rotate(id: string, overlapSeconds: number): Promise<{ readonly secret: string } | undefined>;
	/** @returns false when there is no such client. */
	delete(id: string): Promise<boolean>;
	close(): Promise<void>;
}

export interface CreatedClient {
	readonly id: string;
	readonly secret: string;
	/** Why the client, which is there, could not join its team. */
	readonly teamFailure?: Error;
}

export interface NewClient {
	/** Absent: made from the name and something random. */
	readonly id?: string;
	readonly name: string;
	/** Without the scope base: `invoke`, `admin`. */
	readonly scopes: readonly string[];
	/** Id of the team that the client joins. */
	readonly team?: string;
}

/** The part of a `ClientRecord` that is shown; the hashes of the secrets are only counted. */
export interface ListedClient {
	readonly id: string;
	readonly name: string;
	/** Id of the team that names it; null: none does. */
	readonly team: string | null;
	readonly scopes: readonly string[];
	readonly secrets: readonly unknown[];
	readonly isDisabled: boolean;
	readonly createdAtMs: number;
}

export interface DoctorCheck {
	readonly name: string;
	readonly isOk: boolean;
	readonly detail: string;
}
