import { describe, expect, it, test } from 'vitest';
import { parseConfig } from '../config/load.ts';
import { connectionLimits, parseDescriptorLimit } from './connection-limits.ts';

const configOf = (text: string) => parseConfig(text, { file: null, env: {} }).config;

describe('connections under a descriptor limit', () => {
	it.each([
		['[edge, gateway, identity]', 1],
		['[edge, gateway, identity, simulator]', 1],
		['[edge]', 0],
		['[gateway]', 0],
		['[simulator]', 0],
	])('of %s all fit, and leave a reserve', (roles, documentServers) => {
		const config = configOf(`roles: ${roles}`);
		for (const limit of [256, 1024, 4096, 20_000]) {
			const { clients, perOrigin, documents = 0 } = connectionLimits(config, limit);
			const servers = ['edge', 'gateway'].some((role) => roles.includes(role)) ? clients + perOrigin : 0;
			const simulated = roles.includes('simulator') ? clients : 0;
			expect(servers + simulated + documentServers * documents).toBeLessThanOrEqual(limit - 96);
			expect(clients).toBeGreaterThan((limit - 96) / 5);
		}
	});

	it('are no more than configured', () => {
		const config = configOf('edge: { limits: { max_connections: 300 } }');
		expect(connectionLimits(config, 1_000_000)).toEqual({ clients: 300, perOrigin: 4096, documents: 1000 });
	});

	it('are as configured without a limit', () => {
		expect(connectionLimits(configOf('{}'), undefined)).toEqual({ clients: 10_000, perOrigin: 4096, documents: undefined });
	});

	it('are at least one, however low the limit', () => {
		const { clients, perOrigin } = connectionLimits(configOf('{}'), 10);
		expect(Math.min(clients, perOrigin)).toBeGreaterThanOrEqual(1);
	});
});

const textWith = (soft: string): string =>
	`Limit                     Soft Limit           Hard Limit           Units\nMax processes             63321                63321                processes\nMax open files            ${soft.padEnd(21)}unlimited            files\n`;

test.each([
	[textWith('256'), 256],
	[textWith('1048576'), 1_048_576],
	[textWith('unlimited'), undefined],
	['', undefined],
])('the soft limit applies: %#', (text, limit) => {
	expect(parseDescriptorLimit(text)).toBe(limit);
});
