import type { Config } from '../config/schema.ts';

/** Where each role of this process listens, as configured. An edge in the gateway's process has the gateway's address. */
export function listenAddresses(config: Config): Readonly<Record<string, string>> {
	const roles = config.roles.filter((role) => {
		if (role === 'admin') return config.enable_admin_api;
		return role !== 'edge' || !config.roles.includes('gateway');
	});
	const own = roles.map((role) => [role, config[role].listen] as const);
	const { listen: metrics } = config.metrics;
	return Object.fromEntries(metrics === null ? own : [...own, ['metrics', metrics]]);
}
