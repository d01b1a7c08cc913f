/** Runs the same tests with `node:http` reading every request. */
import { serverDefaults } from '../../../../test/support/start-http-server.ts';

serverDefaults.hasFastPath = false;
await import('./http-server.test.ts');
await import('./http-server-hostile.test.ts');
await import('./http-server-streams.test.ts');
await import('./http-server-tls.test.ts');
