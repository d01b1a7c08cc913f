import { InvalidArgumentError, Option } from 'commander';
import { type AdminOptions, type ConfigOptions, logFormats } from '../environment.ts';

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
