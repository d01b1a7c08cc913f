import { withBrackets } from '../core/url-host.ts';

export interface ListenAddress {
	/** Without brackets. */
	readonly host: string;
	/** The system chooses the port if 0. */
	readonly port: number;
}

/** Splits `HOST:PORT`; undefined for any other text. */
export function parseListen(text: string): ListenAddress | undefined {
	const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text);
	const host = match?.[1] ?? match?.[2];
	const port = Number(match?.[3]);
	if (host === undefined || port > 65_535 || !URL.canParse(`http://${withBrackets(host)}`)) return undefined;
	return { host, port };
}

/** URL at which this machine reaches a listening address: a wildcard becomes loopback. */
export function listenUrl({ host, port }: ListenAddress): string {
	const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
	return `http://${withBrackets(reachable)}:${port}`;
}
