import { expect, test } from 'vitest';
import { parseConfig } from '../config/load.ts';
import { listenAddresses } from './listen-addresses.ts';

const addressesOf = (text: string): unknown => listenAddresses(parseConfig(text, { file: null, env: {} }).config);

test('addresses are those of what listens', () => {
	expect(addressesOf('')).toEqual({ gateway: '127.0.0.1:8787', identity: '127.0.0.1:8789' });
	expect(addressesOf('{ roles: [edge, admin], enable_admin_api: true, metrics: { listen: "127.0.0.1:9" } }')).toEqual({
		edge: '127.0.0.1:8080',
		admin: '127.0.0.1:8788',
		metrics: '127.0.0.1:9',
	});
});
