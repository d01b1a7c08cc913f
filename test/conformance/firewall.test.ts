/** Firewall from outside: requests that it blocks, counts, and ignores. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { countCrs, crsCases, runCrsCases } from '../support/crs-suite.ts';
import { eventually } from '../support/product.ts';
import { renderCrsTable } from '../support/security-measurements-page.ts';
import { messagesFormat } from './formats.ts';
import { describeOwn, type Subject, send, useSubject } from './subject.ts';

/** Minimum share of attacks blocked, in per cent. */
const targets: Readonly<Record<string, number>> = { lfi: 95, sqli: 85, xss: 85, generic: 90, php: 70, rce: 60 };

describeOwn('the core rule set’s cases, attack in line or headers', 'a configuration of its own', () => {
	const subject = useSubject();

	it('are caught as promised, and the harmless ones pass', async () => {
		const results = await runCrsCases(Number(new URL(subject.current.baseUrl).port), crsCases);
		expect(results).toHaveLength(2384);
		const measurements = countCrs(results, 'line');
		const shares = Object.fromEntries(measurements.map(({ family, stopped, attacks }) => [family, (100 * stopped) / attacks]));
		for (const [family, target] of Object.entries(targets)) expect(shares[family], `of ${family}`).toBeGreaterThanOrEqual(target);
		const harmless = measurements.reduce((sum, measurement) => sum + measurement.harmless, 0);
		expect(harmless).toBeGreaterThan(100);
		expect((100 * measurements.reduce((sum, measurement) => sum + measurement.falselyBlocked, 0)) / harmless).toBeLessThanOrEqual(5);
		expect(await subject.current.simulator.requestsServed()).toBe(0);
		const page = readFileSync(new URL('../../docs/reference/security-measurements.md', import.meta.url), 'utf8');
		expect(page, 'as `node scripts/security-measurements.ts` writes it').toContain(renderCrsTable(results));
	});
});

describeOwn('Spec: Firewall layer, rules', 'a configuration of its own', () => {
	const subject = useSubject({ edge: { firewall: { rules: { SQLi_QUERYARGUMENTS: 'count', CrossSiteScripting_QUERYARGUMENTS: 'off' } } } });
	const call = (current: Subject, query: string, headers: Record<string, string | null> = {}): Promise<Response> =>
		send(current, `/v1/messages${query}`, { body: JSON.stringify(messagesFormat.question('claude-sim-text')), headers });

	it('block with the page and the header, a good token or none, and the provider is not called', async () => {
		const before = await subject.current.simulator.requestsServed();
		for (const headers of [{}, { authorization: null }]) {
			const response = await call(subject.current, '?file=../../etc/passwd', headers);
			expect([response.status, response.headers.get('x-amzn-waf-action'), response.headers.get('content-type')]).toEqual([
				403,
				'BLOCK',
				'text/html; charset=utf-8',
			]);
			const page = await response.text();
			expect(page).toMatch(/^<!doctype html>[^]*Request blocked/);
			expect(page).not.toContain('passwd');
		}
		expect(await subject.current.simulator.requestsServed()).toBe(before);
	});

	it('are monitored, also as `count`, or do nothing, where the configuration says so', async () => {
		const counted = await call(subject.current, `?id=${encodeURIComponent("1' or '1'='1")}`, { 'x-request-id': 'mine' });
		expect(counted.status).toBe(200);
		expect((await call(subject.current, '?q=%3Cscript%3E')).status).toBe(200);
		const lines = await eventually('a line', () => {
			const text = JSON.stringify(subject.current.product?.log);
			return text.includes('"SQLi_QUERYARGUMENTS","part":"QUERYARGUMENTS","action":"monitor"') ? text : undefined;
		});
		expect(lines).not.toContain('CrossSiteScripting_QUERYARGUMENTS');
	});

	it('accept a request without a user agent', async () => {
		expect((await call(subject.current, '', { 'user-agent': '' })).status).toBe(200);
	});
});

describeOwn('Spec: Firewall layer, reputation lists', 'a configuration of its own', () => {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-lists-'));
	const file = join(directory, 'drop.txt');
	writeFileSync(file, '127.66.0.0/16 ; SBL1\n');
	const subject = useSubject({ edge: { firewall: { reputation: [{ file, name: 'drop' }] } } });
	afterAll(() => rmSync(directory, { recursive: true, force: true }));

	const statusFrom = (localAddress: string): Promise<number> =>
		new Promise((resolve, reject) => {
			const agent = new Agent({ localAddress });
			get(`${subject.current.baseUrl}/`, { agent }, (response) => {
				response.resume().once('end', () => resolve(response.headers['x-amzn-waf-action'] === 'BLOCK' ? 403 : (response.statusCode ?? 0)));
			}).once('error', reject);
		});
	const logged = (msg: string): Promise<Record<string, unknown>> =>
		eventually(msg, () => subject.current.product?.log.findLast((line) => line['msg'] === msg && line['file'] === file));

	it('block by address, are read again when they change, and stay when the new file is bad', async () => {
		expect([await statusFrom('127.66.1.2'), await statusFrom('127.67.1.2')]).toEqual([403, 200]);
		writeFileSync(file, '127.67.0.0/16 ; SBL2\n');
		await eventually('the new list', async () => ((await statusFrom('127.67.1.2')) === 403 ? true : undefined));
		expect(await statusFrom('127.66.1.2')).toBe(200);
		writeFileSync(file, '127.67.0.0/16\nnonsense\n');
		expect(await logged('reputation list rejected, the previous one stays active')).toMatchObject({ line: 2, list: 'drop' });
		expect(await statusFrom('127.67.1.2')).toBe(403);
		expect(await logged('reputation list contains private or reserved ranges; only trusted proxies are exempt')).toMatchObject({
			what: 'a loopback address',
		});
	});
});
