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
	/** One character a byte. */
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

/** Blanks before a value are legal and gone before anybody sees the value. */
const legalThoughWarned: ReadonlySet<string> = new Set(['SMUG-CL-EXTRA-LEADING-SP']);

/** Without a token such a request is refused before its body is looked at; with one, below, it is looked at. */
const isOddInBody = (id: string): boolean => /-CHUNK-|UNDERSEND|TRAILER-|NO-FINAL/.test(id);

/** A request whose rest never comes may be left without an answer; any other gets one, or the end of its connection. */
const waitMs = (probe: ProbeCase): number => (probe.ok.includes('timeout') ? 150 : 5000);

describeOwn('guarantees 3: Http11Probe', 'our simulator', () => {
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
			// Refused for the token, the address or the method: the request was taken as HTTP.
			const isTaken = [200, 401, 404, 405, 415].includes(status);
			const outcomes = [String(status), isTaken ? '2xx' : `${Math.trunc(status / 100)}xx`, '!101'];
			// Ours for HTTP that is none is a page; a body that is no JSON is another matter, and no reason to hang up.
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

	describe.each(bothFormats)('%s with credentials', (path, format) => {
		const body = JSON.stringify(question(`${format.family}-sim-text`));

		it('what is refused does not reach the provider, what is taken reaches it once, and the process lives', async () => {
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
					const mayBeTaken = allowedOutcomes(probe).some((outcome) => ['2xx', '200', '!101'].includes(outcome));
					if (outcomes.includes('5xx') || (outcomes.includes('200') && !mayBeTaken)) wrong.push([probe.id, outcomes]);
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
 * The same oddity in a request that would otherwise be a good call; undefined where the request line itself is the
 * oddity. The body, `hello` in most, becomes the call's, and lengths that said 5 say its length.
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
