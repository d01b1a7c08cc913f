import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signWebhook } from './sign-webhook.ts';

test('the signature is the documented one of RFC 2104', () => {
	const signature = signWebhook('{"id":"evt_1"}', 'secret-of-the-webhook', 1_800_000_000_999);
	const mac = createHmac('sha256', 'secret-of-the-webhook').update('1800000000.{"id":"evt_1"}').digest('hex');
	expect(signature).toBe(`t=1800000000,v1=${mac}`);
});

const page = readFileSync(join(import.meta.dirname, '../../../docs/guide/webhooks.md'), 'utf8');

/** Function `isAuthentic` of the guide, which is a module of its own. */
function documentedCheck(): (body: string, header: string, secret: string, nowSeconds: number) => boolean {
	const [, code = ''] = /```js\n(.*?)```/s.exec(page) ?? [];
	const body = code.replace(/^import .*$/gm, '').replace('export function', 'return function');
	return new Function('createHmac', 'timingSafeEqual', body)(createHmac, timingSafeEqual) as ReturnType<typeof documentedCheck>;
}

test('the check of the guide accepts every signature, and nothing that was changed', () => {
	const isAuthentic = documentedCheck();
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
	for (const header of ['', 't=1', 'v1=ab', 't=,v1=', 't=1,v1=zz'])
		expect(isAuthentic('{}', header, 'secret-of-the-webhook', 1)).toBe(false);
});
