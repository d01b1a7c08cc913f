import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePort } from './product.ts';

test.runIf(process.platform === 'linux')('a port that is given but not in use yet is given by no other process', async () => {
	const rival = createServer().listen(`\0tollgate-test-port-${await freePort()}`);
	expect(await once(rival, 'error')).toMatchObject([{ code: 'EADDRINUSE' }]);
});
