/**
 * Http11Probe's requests against a complete product: as published, and with credentials on the inference paths. There a request taken for
 * two would cost money.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/product.ts';
import { RawClient } from '../support/raw-client.ts';
import { allEndpoints } from './formats.ts';
import { describeOwn, send, useSubject } from './subject.ts';

interface ProbeCase {
	readonly id: string;
	readonly category: string;
	readonly ok: readonly string[];
	readonly warn?: readonly string[];
	/** Request text with one character per byte. */
	readonly bytes: string;
}

const cases: readonly ProbeCase[] = (
	JSON.parse(readFileSync(new URL('../suites/http11probe/requests.json', import.meta.url), 'utf8')) as (Omit<ProbeCase, 'bytes'> & {
		raw: string;
	})[]
).map((probe) => ({
	...probe,
	bytes: Buffer.from(probe.raw, 'base64').toString('latin1'),
}));

/** Whitespace before a value is legal and removed before anything reads the value. */
const legalThoughWarned: ReadonlySet<string> = new Set(['SMUG-CL-EXTRA-LEADING-SP']);

/** Cases with an invalid body: without a token they are rejected before the body is read; with one, below, the body is read. */
const isOddInBody = (id: string): boolean => /-CHUNK-|UNDERSEND|TRAILER-|NO-FINAL/.test(id);

/** Time to wait. An incomplete request may get no response; any other gets one, or its connection closes. */
const waitMs = (probe: ProbeCase): number => (probe.ok.includes('timeout') ? 150 : 5000);

describeOwn('Http11Probe', 'our simulator', () => {
	const subject = useSubject();

	async function outcomesOf(probe: ProbeCase, bytes = probe.bytes): Promise<string[]> {
		const { host, port } = new URL(subject.current.baseUrl);
		const client = new RawClient(Number(port));
		try {
			client.send(bytes.replaceAll('localhost:8080', host));
			const status = await eventually(
				'an answer',
				() => client.statuses.find((code) => code >= 200) ?? (client.isClosed ? 0 : undefined),
				waitMs(probe),
			).catch(() => undefined);
			expect(client.statuses.filter((code) => code >= 200).length, 'answers').toBeLessThanOrEqual(1);
			if (status === undefined) return ['timeout'];
			if (status === 0) return ['close'];
			// Rejected for the token, the path or the method, which means that the request was parsed as HTTP.
			const isTaken = [200, 401, 404, 405, 415].includes(status);
			const outcomes = [String(status), isTaken ? '2xx' : `${Math.trunc(status / 100)}xx`, '!101'];
			// Invalid HTTP returns an HTML page and closes the connection; invalid JSON does not close it.
			if (client.text.includes('text/html') && [400, 505].includes(status)) {
				await eventually('the end of the connection', () => (client.isClosed ? true : undefined), 1000);
			}
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
		const outcomes = await outcomesOf(probe);
		const allowed = [...allowedOutcomes(probe), ...(isOddInBody(probe.id) ? ['401'] : [])];
		expect(
			outcomes.some((outcome) => allowed.includes(outcome)),
			`${outcomes.join()} is not among ${allowed.join()}`,
		).toBe(true);
	});

	describe.each(allEndpoints)('%s with credentials', (path, { family, question }) => {
		const body = JSON.stringify(question(`${family}-sim-text`));

		it('rejected requests do not reach the provider, accepted ones reach it once, and the process lives', async () => {
			const accessToken = await subject.current.accessToken();
			const aimed = cases.flatMap((probe) => {
				const bytes = aimAt(probe.bytes, path, body, accessToken);
				return bytes === undefined ? [] : [{ probe, bytes }];
			});
			expect(aimed.length).toBeGreaterThan(45);
			const before = await subject.current.simulator.requestsServed();
			const taken: string[] = [];
			const wrong: unknown[] = [];
			await Promise.all(
				aimed.map(async ({ probe, bytes }) => {
					const outcomes = await outcomesOf(probe, bytes);
					if (outcomes.includes('200')) taken.push(probe.id);
					const canBeTaken = allowedOutcomes(probe).some((outcome) => ['2xx', '200', '!101'].includes(outcome));
					if (outcomes.includes('5xx') || (outcomes.includes('200') && !canBeTaken)) wrong.push([probe.id, outcomes]);
				}),
			);
			expect(wrong).toEqual([]);
			expect(taken).toEqual(expect.arrayContaining(['COMP-BASELINE', 'COMP-POST-CL-BODY', 'COMP-CHUNKED-BODY', 'COMP-CONNECTION-CLOSE']));
			expect((await subject.current.simulator.requestsServed()) - before, `calls of the provider; taken: ${taken.join()}`).toBe(
				taken.length,
			);
			expect((await send(subject.current, path, { body })).status).toBe(200);
		});
	});
});

/**
 * Applies the same anomaly to a request that is otherwise valid; undefined if the request line itself is the anomaly. The body, mostly
 * `hello`, becomes that of an inference request, and lengths of 5 become its length.
 */
function aimAt(bytes: string, path: string, body: string, accessToken: string): string | undefined {
	const parts = /^(GET|POST) \/ (HTTP\/1\.[01]\r\n(?: \r\n)?|HTTP\/1\.[01](?=\r\n))([^]*?)\r\n\r\n([^]*)$/.exec(bytes);
	if (parts === null) return undefined;
	const [, method, version = '', fields = '', rest = ''] = parts;
	const length = Buffer.byteLength(body);
	const credentials = `Authorization: Bearer ${accessToken}\r\nContent-Type: application/json`;
	const isBare = method === 'GET' && rest === '';
	const announced = isBare ? `\r\nContent-Length: ${length}` : '';
	const head = fields.replaceAll(/(Content-Length:.*)/g, (line) =>
		line.replaceAll(/(?<![\d_o])(0*)5(?!\d)/g, `$1${length}`).replace('0o5', `0o${length.toString(8)}`),
	);
	const payload = isBare ? body : rest.replace(/^( ?)5(?=[;\r])/, `$1${length.toString(16)}`).replace(/hello(?!world)/, body);
	return `POST ${path} ${version}${head}${head === '' && version.endsWith('\r\n') ? '' : '\r\n'}${credentials}${announced}\r\n\r\n${payload}`;
}
