import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ConfigCommandOptions, runConfigCheck, runConfigPrint, runConfigSchema } from './config-command.ts';

let folder = '';
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'tollgate-config-command-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(
	command: typeof runConfigCheck,
	text: string | undefined,
	json = false,
): Promise<{ code: number; out: string; error: string; file: string }> {
	const file = join(folder, 'tollgate.yaml');
	if (text !== undefined) writeFileSync(file, text);
	let out = '';
	let error = '';
	const options: ConfigCommandOptions = { configPath: text === undefined ? undefined : file, env: {}, workingDirectory: '/', json };
	const code = await command(options, { stdout: (piece) => (out += piece), stderr: (piece) => (error += piece) });
	return { code, out, error, file };
}

describe('tollgate config check', () => {
	it('says ok', async () => {
		const { code, out, error, file } = await run(runConfigCheck, 'gateway: { max_body_bytes: 4096 }');
		expect([code, error]).toEqual([0, '']);
		expect(out.split('\n')[0]).toBe(`ok: ${file}`);
	});

	it('warns of what is valid and probably not meant, and exits with 0 all the same', async () => {
		const text = 'providers: { provider_a: { base_url: "https://llm.example.com/v1" } }\ntiers: { sandbox: { rpm: 500 } }';
		const { code, out } = await run(runConfigCheck, text);
		expect(code).toBe(0);
		expect(out.split('\n').slice(1)).toEqual([
			expect.stringMatching(/^warning: providers\.provider_a\.base_url: ends in \/v1, but /),
			expect.stringMatching(/^note: edge\.firewall\.per_ip: .* 400 a minute /),
			'',
		]);
		expect(JSON.parse((await run(runConfigCheck, text, true)).out)).toMatchObject({
			warnings: [expect.stringMatching(/^providers\.provider_a\.base_url: /)],
		});
	});

	it('says where every problem is and exits with 1', async () => {
		const { code, out, error, file } = await run(runConfigCheck, 'gateway:\n  workers: x\nrolls: []');
		expect([code, out]).toEqual([1, '']);
		expect(error).toBe(
			`${file}:2:12 gateway.workers: must be a number, not a string\n${file}:3:1 rolls: unknown key, did you mean \`roles\`?\n`,
		);
	});

	it('prints JSON', async () => {
		expect(JSON.parse((await run(runConfigCheck, '', true)).out)).toMatchObject({ ok: true, warnings: [], notes: [] });
		expect(JSON.parse((await run(runConfigCheck, 'tiers: { sandbox: { rpm: 500 } }', true)).out)).toMatchObject({
			notes: [expect.stringContaining('400 a minute')],
		});
		const rejected = await run(runConfigCheck, 'rolls: []', true);
		expect(rejected.code).toBe(1);
		expect(JSON.parse(rejected.out)).toMatchObject({ ok: false, problems: [{ line: 1, column: 1, path: 'rolls' }] });
	});

	it('needs no file', async () => {
		expect((await run(runConfigCheck, undefined)).out).toContain('ok: (no file, defaults only)\n');
	});
});

describe('tollgate config print', () => {
	it('shows what the file amounts to without its secrets', async () => {
		const text = 'providers: { provider_a: { api_key: sk-1 } }';
		const { code, out } = await run(runConfigPrint, text);
		expect(code).toBe(0);
		expect(out).not.toContain('sk-1');
		expect(parse(out)).toMatchObject({ providers: { provider_a: { api_key: '***' } }, gateway: { listen: '127.0.0.1:8787' } });
		expect(JSON.parse((await run(runConfigPrint, text, true)).out)).toEqual(parse(out));
	});
});

describe('tollgate config schema', () => {
	it('prints the JSON Schema', async () => {
		const { code, out } = await run(runConfigSchema, undefined);
		expect(code).toBe(0);
		expect(JSON.parse(out)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', additionalProperties: false });
	});
});
