import { demoModels } from '../config/demo.ts';
import { identityUrl } from '../config/identity-url.ts';
import { listenUrl } from '../config/listen.ts';
import type { Config } from '../config/schema.ts';
import type { DemoClient } from './demo-client.ts';
import { listenAddress } from './settings.ts';

export interface BannerInput {
	readonly version: string;
	readonly config: Config;
	readonly simulatedProviders: readonly string[];
	readonly client: DemoClient | undefined;
	/** On a terminal, two facts share a line and commands are wrapped at 80 columns. */
	readonly isTerminal: boolean;
}

type Fact = readonly [label: string, value: string];

const columns = 80;

/** Renders the demo's banner in at most 15 lines: addresses, credentials, and commands to paste. */
export function renderBanner({ version, config, simulatedProviders, client, isTerminal }: BannerInput): string {
	const gateway = listenUrl(listenAddress(config.gateway.listen));
	const record: Fact[] = [
		['gateway', gateway],
		['identity', identityUrl(config)],
		...(config.roles.includes('admin') ? [['admin API', `${listenUrl(listenAddress(config.admin.listen))}/docs`] as const] : []),
		...(config.roles.includes('simulator') ? [['simulator', listenUrl(listenAddress(config.simulator.listen))] as const] : []),
		...Object.entries(config.providers).map(([name, { kind }]): Fact => {
			return [name, `${kind}, ${simulatedProviders.includes(name) ? 'simulator' : 'real, your key'}`];
		}),
	];
	return [
		`Tollgate ${version} is ready: a demo, with its data in ${config.data_dir}. Stop with Ctrl-C.`,
		...(isTerminal ? inTwoColumns(record) : record.map(([label, value]) => `${label.padEnd(15)}${value}`)),
		...(client === undefined ? [] : clientLines(client, config, gateway, isTerminal)),
		'',
	].join('\n');
}

function inTwoColumns(record: readonly Fact[]): string[] {
	const cells = record.map(([label, value]) => `${label.padEnd(11)}${value}`);
	const lines: string[] = [];
	for (let index = 0; index < cells.length; index += 2) {
		lines.push(`${(cells[index] ?? '').padEnd(columns / 2)}${cells[index + 1] ?? ''}`.trimEnd());
	}
	return lines;
}

function clientLines({ id, secret }: DemoClient, config: Config, gateway: string, isTerminal: boolean): string[] {
	const credentials = secret === undefined ? `"${id}:$GATEWAY_CLIENT_SECRET"` : `${id}:${secret}`;
	const post = (path: string, model: string, more: string): Piece[] => [
		{ text: `curl ${gateway}${path}` },
		{ text: '-H "authorization: Bearer $TOKEN"' },
		{ text: "-H 'content-type: application/json'" },
		{ text: `-d '{"model":"${model}",` },
		{ text: `${more}"messages":[{"role":"user","content":"Hello"}]}'`, isInQuotes: true },
	];
	const commands: Piece[][] = [
		[
			// Without the scheme, which curl adds, the command fits into two lines of 80 columns.
			{ text: `TOKEN=$(curl -fsS ${identityUrl(config).replace(/^http:\/\//, '')}/oauth2/token` },
			{ text: '-d grant_type=client_credentials' },
			{ text: `-u ${credentials}` },
			{ text: `| grep -o 'eyJ[^"]*')` },
		],
		post('/v1/chat/completions', demoModels.chat, ''),
		post('/v1/messages', demoModels.messages, '"max_tokens":100,'),
	];
	return [
		`client id      ${id}`,
		`client secret  ${secret ?? `already shown; create a new one with bin/tollgate client rotate ${id}`}`,
		...commands.map((pieces) => renderCommand(pieces, isTerminal ? columns : Number.POSITIVE_INFINITY)),
	];
}

/** Part of a command that a line break may precede. */
interface Piece {
	readonly text: string;
	/** Continues a quoted JSON text, in which a line break has no meaning. */
	readonly isInQuotes?: true;
}

const continuation = ' \\';

function renderCommand(pieces: readonly Piece[], width: number): string {
	const [first, ...rest] = pieces;
	let line = first?.text ?? '';
	let before = '';
	for (const [index, { text, isInQuotes }] of rest.entries()) {
		const joined = `${line}${isInQuotes ? '' : ' '}${text}`;
		// A line that ends within quotes, or ends the command, needs no backslash.
		const next = rest[index + 1];
		const end = next === undefined || next.isInQuotes ? '' : continuation;
		if (joined.length + end.length <= width) {
			line = joined;
			continue;
		}
		before += isInQuotes ? `${line}\n` : `${line}${continuation}\n`;
		line = isInQuotes ? text : `  ${text}`;
	}
	return before + line;
}
