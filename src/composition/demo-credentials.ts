import { CommandFailure } from '../cli/command-failure.ts';
import type { DemoCredentials } from '../cli/environment.ts';
import { identityUrl } from '../config/identity-url.ts';
import { demoClientId, readDemoSecret } from './demo-client.ts';
import { loadRunningConfig } from './demo-mark.ts';

/** @throws CommandFailure 1 if the last start was no demo, or its secret is not stored. */
export function demoCredentials(env: Readonly<Record<string, string | undefined>>): DemoCredentials {
	const { config, file, isDemo } = loadRunningConfig({ env });
	if (!isDemo) {
		const reason = file === null ? `${config.data_dir} has no data of a demo` : `${file} replaces the demo`;
		throw new CommandFailure(1, `${reason}: start the demo with \`tollgate start --demo\`, and run this in the same directory`);
	}
	const secret = readDemoSecret(config.data_dir);
	if (secret === undefined) {
		throw new CommandFailure(
			1,
			`${config.data_dir} does not have the secret of client ${demoClientId}: stop the demo, delete ${config.data_dir} and start it again`,
		);
	}
	return { GATEWAY_CLIENT_ID: demoClientId, GATEWAY_CLIENT_SECRET: secret, GATEWAY_TOKEN_ENDPOINT: `${identityUrl(config)}/oauth2/token` };
}
