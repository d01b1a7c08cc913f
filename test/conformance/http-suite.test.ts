/**
 * Http11Probe's requests against the whole product: as published, and with credentials on the inference addresses, where
 * a request that is taken for two would cost money (contract 4, malformed or ambiguous HTTP).
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/product.ts';
import { RawClient } from '../support/raw-client.ts';
import { bothFormats, question } from './formats.ts';
import { describeOwn, send, useSubject } from './subject.ts';

interface ProbeCase {
	readonly id: string;
	readonly category: string;
	readonly ok: readonly string[];
	readonly warn?: readonly string[];
	readonly raw: string;
}

const cases = (JSON.parse(readFileSync(new URL('../suites/http11probe/requests.json', import.meta.url), 'utf8')) as ProbeCase[]).map((probe) => ({
	...probe,
	bytes: Buffer.from(probe.raw, 'base64').toString('latin1'),
}));

/** Blanks before a value are legal and gone before anybody sees the value. */
const legalThoughWarned: ReadonlySet<string> = new Set(['SMUG-CL-EXTRA-LEADING-SP']);

/** Requests whose rest is still to come: there is nothing to answer yet. */
const waitMs = 150;

describeOwn('Http11Probe', 'our simulator', () => {
	const subject = useSubject();

	async function outcomesOf(bytes: string): Promise<string[]> {
		const { host, port } = new URL(subject.current.baseUrl);
		const client = new RawClient(Number(port));
		try {
			client.send(bytes.replaceAll('localhost:8080', host));
			const status = await eventually('an answer', () => client.statuses.find((code) => code >= 200) ?? (client.isClosed ? 0 : undefined), waitMs).catch(() => undefined);
			expect(client.statuses.filter((code) => code >= 200).length, 'answers').toBeLessThanOrEqual(1);
			if (status === undefined) return ['timeout', 'close'];
			if (status === 0) return ['close'];
			// Refused for the token, the address or the method: the request was taken as HTTP.
			const isTaken = [200, 401, 404, 405, 415].includes(status);
			const outcomes = [String(status), isTaken ? '2xx' : `${Math.trunc(status / 100)}xx`, '!101'];
			if (status === 400 || status === 505) await eventually('the end of the connection', () => (client.isClosed ? true : undefined), 1000);
			return status === 408 ? [...outcomes, 'timeout'] : [413, 431].includes(status) ? [...outcomes, '400'] : outcomes;
		} finally {
			client.destroy();
		}
	}

	function allowedOutcomes({ id, category, ok, warn = [] }: ProbeCase): readonly string[] {
		return category === 'Smuggling' && !legalThoughWarned.has(id) ? ok : [...ok, ...warn];
	}

	it('has all its cases', () => expect(cases).toHaveLength(64));

	it.concurrent.each(cases)('as published: $id', async (probe) => {
		const outcomes = await outcomesOf(probe.bytes);
		expect(
			outcomes.some((outcome) => allowedOutcomes(probe).includes(outcome)),
			`${outcomes.join()} is not among ${allowedOutcomes(probe).join()}`,
		).toBe(true);
	});

	describe.each(bothFormats)('on %s with credentials', (path, format) => {
		const aimed = cases.filter(({ bytes }) => /^(GET|POST) \/ HTTP/.test(bytes) && bytes.includes('\r\n\r\n'));

		it('no request that is refused reaches the provider, and the process lives', async () => {
			expect(aimed.length).toBeGreaterThan(45);
			const authorization = `Authorization: Bearer ${await subject.current.accessToken()}\r\nContent-Type: application/json\r\n`;
			const good = await send(subject.current, path, { body: question(`${format.family}-sim-text`) });
			expect(good.status).toBe(200);
			const before = await subject.current.simulator.requestsServed();
			const wrong: unknown[] = [];
			await Promise.all(
				aimed.map(async (probe) => {
					const [line, rest = ''] = probe.bytes.split(/(?<=^[^\r\n]*\r\n)/);
					const outcomes = await outcomesOf(`${line?.replace(' / ', ` ${path} `)}${rest === '' ? '' : ''}${insertFields(probe.bytes, authorization)}`);
					const mayPass = allowedOutcomes(probe).some((outcome) => ['2xx', '200', '!101', '400'].includes(outcome));
					if (!mayPass || outcomes.includes('5xx') || outcomes.includes('200')) wrong.push([probe.id, outcomes]);
				}),
			);
			expect(wrong).toEqual([]);
			expect(await subject.current.simulator.requestsServed(), 'the provider was called').toBe(before);
			expect((await send(subject.current, path, { body: question(`${format.family}-sim-text`) })).status).toBe(200);
		});
	});
});
