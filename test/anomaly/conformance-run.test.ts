/** `npm run conformance -- --base-url URL`: the suite against a deployment, here one that the test starts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot, runProcess } from '../support/processes.ts';
import { agent, operator, startProduct } from '../support/product.ts';

const conformance = (args: readonly string[]) =>
	runProcess(process.execPath, [join(packageRoot, 'test/conformance/run.ts'), ...args], { env: { NO_COLOR: '1' } });

const deployment = (baseUrl: string, tokenEndpoint: string) => [
	...['--base-url', baseUrl, '--token-endpoint', tokenEndpoint],
	...['--client-id', agent.id, '--client-secret', agent.secret],
	...['--admin-client-id', operator.id, '--admin-client-secret', operator.secret],
];

describe('the conformance suite', () => {
	test('passes against a deployment, and says what it leaves out and why', async () => {
		const product = await startProduct();
		onTestFinished(async () => void (await product.stop()));
		const { code, stdout } = await conformance([
			...deployment(product.gatewayUrl, product.tokenEndpoint),
			'authentication',
			'bad-input',
			'inference',
		]);
		expect([code, stdout]).toEqual([0, expect.stringMatching(/Tests +\d{2,} passed/)]);
		expect(stdout).toContain('skipped: needs a configuration of its own');
	}, 60_000);

	test('fails against a server that returns 200 to everything', async () => {
		const server = createServer((request, response) => {
			request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{"access_token":"a.b.c"}'));
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		onTestFinished(() => void server.close());
		const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		const { code, stdout } = await conformance([...deployment(url, `${url}/token`), 'authentication', 'bad-input', 'inference']);
		expect([code, stdout]).toEqual([1, expect.stringMatching(/Tests +\d{2,} failed/)]);
	}, 60_000);

	test.each([
		['an option that is missing', ['--base-url', 'http://127.0.0.1:1'], 'Missing: --token-endpoint, --client-id, --client-secret'],
		['an address that is none', deployment('llm.example.com', 'http://127.0.0.1:1'), '--base-url must be an http or https URL'],
		['an option that it does not know', ['--base'], "Unknown option '--base'"],
	])('names %s and shows its usage', async (_what, args, message) => {
		const { code, stdout, stderr } = await conformance(args);
		expect([code, stdout]).toEqual([1, '']);
		expect(stderr).toContain(message);
		expect(stderr).toContain('npm run conformance -- --base-url URL');
	});
});
