import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const guide = readFileSync(join(root, 'docs/guide/client.md'), 'utf8');
/** The block with `authToken` is for version 0 of its SDK. */
const blocks = [...guide.matchAll(/^```ts\n(.+?)^```$/gms)].map(([, block = '']) =>
	block.includes('authToken') ? block.replace("'@anthropic-ai/sdk'", "'@anthropic-ai/sdk-0'") : block,
);

let server: Server;
let address: string;

beforeAll(async () => {
	server = createServer((request, response) => {
		request.resume();
		response.setHeader('content-type', 'application/json');
		if (request.url === '/oauth2/token') {
			response.end('{"access_token":"abc","expires_in":3600}');
		} else if (request.headers.authorization !== 'Bearer abc' || request.headers['x-api-key'] !== undefined) {
			response.writeHead(401).end('{}');
		} else if (request.url === '/v1/chat/completions') {
			response.end('{"choices":[{"message":{"role":"assistant","content":"true"}}]}');
		} else {
			response.writeHead(request.url === '/v1/messages' ? 200 : 404).end('{"content":[{"type":"text","text":"true"}]}');
		}
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
	server.closeAllConnections();
	server.close();
});

describe('the guide', () => {
	it('has a block for each SDK', () => {
		expect(blocks.map((block) => /^import \S+ from '(.+)';$/m.exec(block)?.[1])).toEqual([
			undefined,
			'openai',
			'@anthropic-ai/sdk',
			'@anthropic-ai/sdk-0',
		]);
	});

	it('shows code that compiles under strict settings', async () => {
		const directory = await mkdtemp(join(tmpdir(), 'tollgate-guide-'));
		const compilerOptions = { paths: { 'tollgate/client': [join(import.meta.dirname, 'index.ts')] } };
		const settings = { extends: join(root, 'tsconfig.json'), compilerOptions, include: ['*.mts'] };
		await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
		await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(settings));
		await Promise.all(blocks.map((block, index) => writeFile(join(directory, `block-${index}.mts`), block)));
		const outcome = await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', directory]).catch((error: unknown) => error);
		await rm(directory, { recursive: true });
		expect(outcome).toEqual({ stdout: '', stderr: '' });
	});

	it.each(blocks)('shows code that works: %#', async (block) => {
		const program = block
			.replace("'tollgate/client'", JSON.stringify(pathToFileURL(join(import.meta.dirname, 'index.ts')).href))
			.replace('http://127.0.0.1:8787', address);
		const env = {
			GATEWAY_TOKEN_ENDPOINT: `${address}/oauth2/token`,
			GATEWAY_CLIENT_ID: 'agent',
			GATEWAY_CLIENT_SECRET: 'secret',
			// Keys on a developer's machine, which must not be sent.
			ANTHROPIC_API_KEY: 'vendor-key',
		};
		const args = ['--input-type=module-typescript', '--eval', program];
		expect(await promisify(execFile)(process.execPath, args, { cwd: root, env })).toEqual({ stdout: 'true\n', stderr: '' });
	});
});
