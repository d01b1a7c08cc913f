/** Dependencies of the commands on the system and on the other components; wired where the program is composed. */
import type { RoleName } from '../core/handler.ts';

export interface CliEnvironment {
	readonly version: string;
	readonly stdout: CliOutput;
	readonly stderr: CliOutput;
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly operations: CliOperations;
}

/** Gives the task of the chosen command its environment and records its exit code. */
export type RunTask = (task: (environment: CliEnvironment) => Promise<number>) => Promise<void>;

export interface CliOutput {
	readonly isTty: boolean;
	/** Resolves when the text has been written, or when the reader has closed the stream. Rejects when it cannot be written. */
	write(text: string): Promise<void>;
}

/** Each operation may throw `CommandFailure`, or a `Rejection` for invalid input. */
export interface CliOperations {
	/** Returns when the program has stopped. @returns the exit code. */
	start(options: StartOptions): Promise<number>;
	/** Returns when the simulator has stopped. @returns the exit code. */
	simulate(options: SimulateOptions): Promise<number>;
	/**
	 * Credentials of the demo whose data is in the working directory, as variables of the token helper. @throws CommandFailure 1 when there
	 * is none.
	 */
	demoCredentials(): Promise<DemoCredentials>;
	/** Opens the admin API at an address, or over the configured stores, which a running server may have open too. */
	openAdmin(options: AdminOptions): Promise<AdminApi>;
	openClients(options: AdminOptions): Promise<ClientOperations>;
	/** Migrates the schema of the stores. */
	migrate(options: ConfigOptions): Promise<readonly { readonly part: string; readonly fromVersion: number; readonly toVersion: number }[]>;
	doctor(options: DoctorOptions): Promise<DoctorCheck[]>;
	testAccess(options: AccessTestOptions): Promise<AccessTest>;
	/** Resolves at the first SIGTERM, SIGINT or SIGHUP. The second one ends the process at once. */
	untilStopSignal(): Promise<void>;
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
	/** Address of a running admin API. */
	readonly url?: string;
	/** True if the data directory need not exist yet. */
	readonly canCreate?: boolean;
}

export interface AdminRequest {
	readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
	/** Path with query. */
	readonly path: string;
	readonly headers?: Readonly<Record<string, string>>;
	/** JSON body. */
	readonly body?: Readonly<Record<string, unknown>>;
}

export interface AdminApi {
	/** Name in messages. */
	readonly name: string;
	request(
		request: AdminRequest,
	): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string }>;
	close(): Promise<void>;
}

export interface AccessTestOptions extends ConfigOptions {
	readonly accessToken: string;
}

/** Result of `tollgate access test`, with the names of its JSON output. */
export interface AccessTest {
	/** False if the token is rejected whatever its signature. */
	readonly accepted: boolean;
	/** Reason of the rejection. */
	readonly reason: string | null;
	readonly signature: 'not_checked';
	readonly issuer: string | null;
	readonly client_id: string | null;
	readonly expires_at: string | null;
	readonly expired: boolean;
	/** Index in `access.rules`; null: none matches. */
	readonly rule: number | null;
	/** Scopes with their base: those of the token and of the rule. */
	readonly scopes: readonly string[];
	readonly granted_by_rule: readonly string[];
	/** Team of the rule; null: by the client id. */
	readonly team: string | null;
	readonly permitted: {
		readonly inference: boolean;
		/** `all`, or permissions for the records of all teams. */
		readonly admin: readonly string[];
		readonly admin_teams: readonly string[];
	};
}

export const doctorDeps = ['ledger'] as const;

export interface DoctorOptions extends ConfigOptions {
	/** The only part to check, in depth. */
	readonly part?: (typeof doctorDeps)[number];
}

export interface StartOptions extends ConfigOptions {
	/** Overrides `roles` of the configuration. */
	readonly roles?: readonly RoleName[];
	/** True without a configuration file: the demo configuration, with its team, client and simulated providers. */
	readonly isDemo: boolean;
	readonly logLevel?: LogLevel;
	/** Overrides `log.format` of the configuration. */
	readonly logFormat?: LogFormat;
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ['auto', 'json', 'text'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface SimulateOptions {
	/** `host:port`. */
	readonly listen: string;
	/** Time between two events of a stream. */
	readonly intervalMs: number;
	/** Default `auto`. */
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
	/** True if the team did not exist and was created for the client. */
	readonly isTeamNew?: boolean;
	/** Error that kept the client, which was created, from joining its team. */
	readonly teamFailure?: Error;
}

export interface NewClient {
	/** By default made from the name and a random suffix. */
	readonly id?: string;
	readonly name: string;
	/** Scope names without the scope base, such as `invoke`. */
	readonly scopes: readonly string[];
	/** Id of the team that the client joins. */
	readonly team?: string;
	/** Default false. */
	readonly maySetAttributes?: boolean;
}

/** The displayed part of a `ClientRecord`; hashes of secrets are only counted. */
export interface ListedClient {
	readonly id: string;
	readonly name: string;
	/** Id of the team that lists the client; null if there is none. */
	readonly team: string | null;
	readonly scopes: readonly string[];
	readonly secrets: readonly unknown[];
	readonly isDisabled: boolean;
	readonly canSetAttributes: boolean;
	readonly createdAtMs: number;
}

export interface DoctorCheck {
	readonly name: string;
	readonly isOk: boolean;
	readonly detail: string;
}
