import { identityUrl } from '../config/identity-url.ts';
import { listenUrl } from '../config/listen.ts';
import type { Config } from '../config/schema.ts';
import type { DemoClient } from './demo-client.ts';
import { listenAddress } from './settings.ts';

export interface BannerFacts {
	readonly version: string;
	readonly config: Config;
	readonly simulatedProviders: readonly string[];
	readonly client: DemoClient | undefined;
}

/** What the first start shows: where everything is, and lines to paste. */
export function renderBanner({ version, config, simulatedProviders, client }: BannerFacts): string {
	const gateway = listenUrl(listenAddress(config.gateway.listen));
	const lines = [
		`Tollgate ${version} is ready, with a demo configuration and its data in ${config.data_dir}`,
		'',
		`gateway        ${gateway}  (edge in front)`,
		`identity       ${identityUrl(config)}`,
		...(config.roles.includes('admin') ? [`admin API      ${listenUrl(listenAddress(config.admin.listen))}/docs`] : []),
		...(config.roles.includes('simulator') ? [`simulator      ${listenUrl(listenAddress(config.simulator.listen))}`] : []),
		'',
		...Object.entries(config.providers).map(([name, { kind }]) => {
			const how = simulatedProviders.includes(name)
				? 'answered by the simulator, for its key is not set'
				: 'real, with the key of the environment';
			return `${name}     ${kind}: ${how}`;
		}),
		'',
		...(client === undefined ? [] : clientLines(client, config, gateway)),
		'Stop with Ctrl-C. With a configuration of your own: npm start -- --config tollgate.yaml',
		'',
		'',
	];
	return lines.join('\n');
}

function clientLines({ id, secret }: DemoClient, config: Config, gateway: string): string[] {
	const tokenUrl = `${identityUrl(config)}/oauth2/token`;
	const json = `-H "authorization: Bearer $TOKEN" -H 'content-type: application/json'`;
	const shown = secret ?? '$GATEWAY_CLIENT_SECRET';
	return [
		`client id      ${id}`,
		`client secret  ${secret ?? `was shown at the first start; bin/tollgate client rotate ${id} makes a new one`}`,
		'',
		secret === undefined
			? 'Set GATEWAY_CLIENT_SECRET to the secret, then paste a token, a chat completion, a message, and both as streams:'
			: 'Paste these: a token, a chat completion, a message, and both as streams.',
		'',
		`TOKEN=$(curl -fsS ${tokenUrl} -d grant_type=client_credentials -d client_id=${id} -d client_secret=${shown} | sed -n 's/.*"access_token":"\\([^"]*\\)".*/\\1/p')`,
		'',
		`curl ${gateway}/v1/chat/completions ${json} -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello"}]}'`,
		'',
		`curl ${gateway}/v1/messages ${json} -d '{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'`,
		'',
		`curl -N ${gateway}/v1/chat/completions ${json} -d '{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
		'',
		`curl -N ${gateway}/v1/messages ${json} -d '{"model":"claude-sonnet-4-5","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
		'',
	];
}
