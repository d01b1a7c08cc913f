import { InvalidArgumentError, Option } from 'commander';
import { type ListenAddress, parseListen } from '../../config/listen.ts';
import { CommandFailure } from '../command-failure.ts';
import { type AdminOptions, type CliEnvironment, type ConfigOptions, logFormats } from '../environment.ts';

export interface ConfigFlag {
	readonly config?: string;
}

export function configFlag(): Option {
	return new Option('--config <file>', 'configuration file; default: TOLLGATE_CONFIG, else tollgate.yaml in the working directory');
}

export function readConfigFlag({ config }: ConfigFlag): ConfigOptions {
	return config === undefined ? {} : { configPath: config };
}

export interface AdminFlags extends ConfigFlag {
	readonly url?: string;
}

export function addressFlag(): Option {
	return new Option('--url <address>', 'URL of the admin API; default: TOLLGATE_ADMIN_URL, else the stores of the configuration');
}

export function readAdminFlags({ url, ...flags }: AdminFlags): AdminOptions {
	return { ...readConfigFlag(flags), ...(url !== undefined && { url }) };
}

export function logFormatFlag(): Option {
	return new Option('--log-format <format>', 'form of log lines; auto: text on a terminal, else json').choices(logFormats);
}

export function jsonFlag(): Option {
	return new Option('--json', 'print JSON');
}

/** Returns a parser for a comma-separated list without blanks or duplicates, each item one of `known`. */
export function listOf<Item extends string>(known: readonly Item[]): (text: string) => Item[] {
	return (text) => {
		const items = text.split(',').map((name) => known.find((item) => item === name.trim()));
		const found = items.filter((item) => item !== undefined);
		if (found.length !== items.length) throw new InvalidArgumentError(`Allowed values: ${known.join(', ')}, separated by commas.`);
		return [...new Set(found)];
	};
}

/** Returns a parser for whole numbers from `min` to `max`. */
export function integerWithin(min: number, max: number): (text: string) => number {
	return (text) => {
		const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
		if (value < min || value > max) throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
		return value;
	};
}

/** Parses `host:port`. */
export function listenAddress(text: string): ListenAddress {
	const address = parseListen(text);
	if (address === undefined) throw new InvalidArgumentError('It must be host:port, such as 127.0.0.1:8786.');
	return address;
}

/** Splits a list at its commas, without blanks, empty items and duplicates. */
export function words(text: string): string[] {
	const items = text.split(',').map((item) => item.trim());
	return [...new Set(items.filter((item) => item !== ''))];
}

export interface GatewayFlag {
	readonly gateway?: URL;
}

const localGateway = 'http://127.0.0.1:8787';

export function gatewayFlag(): Option {
	return new Option('--gateway <address>', `URL of the gateway, without /v1; default: GATEWAY_URL, else ${localGateway}`).argParser(
		gatewayUrl,
	);
}

/** Parses the URL of a gateway or a proxy. */
export function gatewayUrl(text: string): URL {
	const url = readGatewayUrl(text);
	if (url === undefined) throw new InvalidArgumentError('It must be an http or https URL without user name, password and query.');
	return url;
}

/** @throws CommandFailure 1 if `GATEWAY_URL` is needed and invalid. */
export function readGatewayFlag({ gateway }: GatewayFlag, env: CliEnvironment['env']): URL {
	const url = gateway ?? readGatewayUrl(env['GATEWAY_URL'] || localGateway);
	if (url === undefined) throw new CommandFailure(1, 'GATEWAY_URL must be an http or https URL without user name, password and query');
	return url;
}

function readGatewayUrl(text: string): URL | undefined {
	const url = URL.parse(text);
	if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
	return url.username + url.password + url.search + url.hash === '' ? url : undefined;
}
