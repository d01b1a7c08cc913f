import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { signWebhook } from './sign-webhook.ts';

test('the signature is the documented one of RFC 2104', () => {
	const signature = signWebhook('{"id":"evt_1"}', 'secret-of-the-webhook', 1_800_000_000_999);
	const mac = createHmac('sha256', 'secret-of-the-webhook').update('1800000000.{"id":"evt_1"}').digest('hex');
	expect(signature).toBe(`t=1800000000,v1=${mac}`);
});

const page = readFileSync(join(import.meta.dirname, '../../../docs/guide/webhooks.md'), 'utf8');

type Check = (body: string, header: string, secret: string, nowSeconds: number) => boolean;

/** Imports the module that the guide shows. */
async function documentedCheck(): Promise<Check> {
	const [, code = ''] = /```js\n(.*?)```/s.exec(page) ?? [];
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-webhooks-'));
	onTestFinished(() => rmSync(directory, { recursive: true }));
	const file = join(directory, 'check.mjs');
	writeFileSync(file, code);
	const { isAuthentic } = (await import(pathToFileURL(file).href)) as { isAuthentic: Check };
	return isAuthentic;
}

test('the check of the guide accepts every signature, and nothing that was changed', async () => {
	const isAuthentic = await documentedCheck();
	fc.assert(
		fc.property(fc.string(), fc.string({ minLength: 16 }), fc.integer({ min: 0, max: 4_000_000_000 }), (body, secret, seconds) => {
			const header = signWebhook(body, secret, seconds * 1000);
			expect(isAuthentic(body, header, secret, seconds + 299)).toBe(true);
			expect(isAuthentic(body, header, secret, seconds + 301)).toBe(false);
			expect(isAuthentic(`${body} `, header, secret, seconds)).toBe(false);
			expect(isAuthentic(body, header, `${secret}x`, seconds)).toBe(false);
			expect(isAuthentic(body, header.replace('t=', 't=1'), secret, seconds)).toBe(false);
		}),
	);
	for (const header of ['', 't=1', 'v1=ab', 't=,v1=', 't=1,v1=zz']) {
		expect(isAuthentic('{}', header, 'secret-of-the-webhook', 1)).toBe(false);
	}
});
