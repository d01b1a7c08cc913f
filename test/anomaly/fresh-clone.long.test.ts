/** First start without installed packages: they are downloaded from the registry. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyTrackedFiles } from '../support/fresh-clone.ts';
import { runProcess, startProcess, systemPath, temporaryDirectory } from '../support/processes.ts';
import { eventually } from '../support/product.ts';

test('git clone, npm start: installs, becomes ready, responds', async () => {
	const home = temporaryDirectory();
	const clone = join(home, 'clone');
	copyTrackedFiles(clone);
	const env = { HOME: home, PATH: systemPath };
	const running = startProcess('npm', ['start'], { cwd: clone, env });
	const banner = await eventually(
		'the banner',
		() => {
			if (running.child.exitCode !== null) throw new Error(`ended with ${running.child.exitCode}: ${running.stderr}${running.stdout}`);
			return running.stdout.includes('Stop with Ctrl-C') ? running.stdout : undefined;
		},
		300_000,
	);
	const [token, chat] = banner.split('\n').filter((line) => /^(curl|TOKEN=\$\(curl)/.test(line));
	const response = await runProcess('sh', ['-c', `${token}\n${chat}`], { env });
	expect(response.code).toBe(0);
	expect(JSON.parse(response.stdout)).toMatchObject({ object: 'chat.completion' });
	running.child.kill('SIGTERM');
	await running.ended;
	expect((await runProcess(join(clone, 'bin/tollgate'), ['--version'], { env })).code).toBe(0);
});

test('git clone, npm test: installs what tests need too, and runs them on the runtime of the lockfile', async () => {
	const home = temporaryDirectory();
	const clone = join(home, 'clone');
	copyTrackedFiles(clone);
	expect((await runProcess('git', ['init', '--quiet', '.'], { cwd: clone })).code).toBe(0);
	expect((await runProcess('git', ['add', '.'], { cwd: clone })).code).toBe(0);
	const tested = await runProcess('npm', ['test', '--', 'src/core/money.test.ts'], { cwd: clone, env: { HOME: home, PATH: systemPath } });
	expect([tested.code, tested.stdout]).toEqual([0, expect.stringMatching(/\n\d+ passed, 0 failed\n/)]);
});
