/** All of it once more where `node:http` reads every request. */
import { serverDefaults } from '../../../../test/support/start-http-server.ts';

serverDefaults.hasFastPath = false;
await import('./http-server.test.ts');
await import('./http-server-hostile.test.ts');
await import('./http-server-streams.test.ts');
await import('./http-server-tls.test.ts');
