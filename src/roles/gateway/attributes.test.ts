/** Attributes of requests, from the access token and from the client. */
import { describe, expect, test } from 'vitest';
import {
	callerOf,
	chatBody,
	chatPath,
	errorOf,
	GatewayBench,
	jsonResponse,
	messagesBody,
	messagesPath,
	sentText,
	summaryOf,
	teamDirectory,
} from '../../../test/support/gateway-bench.ts';
import type { Attributes } from '../../core/attributes.ts';
import type { Caller } from '../../core/caller.ts';
import type { GatewaySettings } from './gateway-settings.ts';

const header = 'x-gateway-attributes';

function createBench(ofToken?: Attributes, settings: Partial<GatewaySettings> = {}): GatewayBench {
	const callers: Record<string, Caller> = {
		good: ofToken === undefined ? callerOf('trusted') : { ...callerOf('trusted'), attributes: ofToken },
		other: callerOf('other'),
	};
	return new GatewayBench(settings, {
		teams: teamDirectory({ canSetAttributes: (clientId) => clientId === 'trusted' }),
		verifier: { verify: (accessToken) => callers[accessToken] ?? callerOf('nobody') },
	});
}

async function entries(bench: GatewayBench): Promise<string[]> {
	const { rows } = await bench.ledger.list({ limit: 10 });
	return rows.map(({ endpoint, attributes }) => `${endpoint} ${attributes}`);
}

describe('attributes of a request', () => {
	test.each([
		[chatPath, chatBody],
		[messagesPath, messagesBody],
		['/v1/responses', '{"model":"gpt-5","input":"hi"}'],
		['/v1/completions', '{"model":"gpt-3.5-turbo-instruct","prompt":"hi"}'],
		['/v1/embeddings', '{"model":"text-embedding-3-small","input":"hi"}'],
	])('%s are in its ledger entry and record, and reach no provider', async (path, body) => {
		const bench = createBench({ project: 'search' });
		const response = await bench.ask(path, body, { [header]: 'user=42,project=mine' });
		expect(response.status).toBe(200);
		expect(await entries(bench)).toEqual([`${path} {"project":"search","user":"42"}`]);
		expect(response.record).toMatchObject({ attributes: { project: 'search', user: '42' } });
		expect(Object.keys(bench.sent[0]?.headers ?? {}).filter((name) => name.startsWith('x-gateway'))).toEqual([]);
		expect(JSON.stringify(bench.sent[0]?.headers) + sentText(bench.sent[0] as never)).not.toContain('42');
	});

	test('of the access token alone need no permission', async () => {
		const bench = createBench({ project: 'search' });
		await bench.ask(chatPath, chatBody);
		await bench.ask(chatPath, chatBody, { authorization: 'Bearer other' }, { id: 'req-2' });
		expect(await entries(bench)).toEqual([`${chatPath} `, `${chatPath} {"project":"search"}`]);
	});

	test('stay with the request when it fails over', async () => {
		const bench = createBench(
			{ project: 'search' },
			{
				routing: { providerHeader: 'ignore', aliases: {}, defaults: { chat: 'provider_b', messages: 'provider_a' } },
			},
		);
		bench.respond = () => jsonResponse(500, '{}');
		await bench.ask(chatPath, chatBody, { [header]: 'user=42' });
		expect(await entries(bench)).toEqual([`${chatPath} {"project":"search","user":"42"}`]);
	});
});

describe('the header field', () => {
	test('is 403 from a client without permission, whatever it contains, and names the cure', async () => {
		const bench = createBench();
		for (const path of [chatPath, messagesPath, '/v1/messages/count_tokens', '/v1/embeddings']) {
			for (const text of ['project=search', 'no attributes', '']) {
				const response = await bench.ask(path, chatBody, { authorization: 'Bearer other', [header]: text });
				expect(summaryOf(response)).toBe('403 attributes_not_allowed');
				expect(errorOf(response).error.param).toBe(header);
				expect(errorOf(response).error.message).toContain('`may_set_attributes`');
			}
		}
		const stored = await bench.ask('/v1/responses/resp_1', '', { authorization: 'Bearer other', [header]: 'a=b' }, { method: 'GET' });
		expect(summaryOf(stored)).toBe('403 attributes_not_allowed');
		expect(bench.sent).toEqual([]);
		expect(await entries(bench)).toEqual([]);
	});

	test('is 400 if it is malformed, and says where', async () => {
		const bench = createBench();
		const malformed = ['project', 'Project=a', 'project=a b', 'a=1,a=2', `a=${'x'.repeat(129)}`];
		for (const text of [...malformed, ['a=1', 'a=2'], Array.from({ length: 9 }, (_, index) => `a${index}=1`).join(',')]) {
			const response = await bench.ask(chatPath, chatBody, { [header]: text });
			expect(summaryOf(response)).toBe('400 field_invalid');
			expect(errorOf(response).error.param).toBe(header);
		}
		expect(bench.sent).toEqual([]);
	});

	test('of several lines is one list', async () => {
		const bench = createBench();
		await bench.ask(chatPath, chatBody, { [header]: ['user=42', 'project=search'] });
		expect(await entries(bench)).toEqual([`${chatPath} {"project":"search","user":"42"}`]);
	});

	test('is decided by the configuration for its clients, whatever the records contain', async () => {
		const denied = createBench(undefined, { clientAttributes: { trusted: false } });
		expect(summaryOf(await denied.ask(chatPath, chatBody, { [header]: 'a=b' }))).toBe('403 attributes_not_allowed');
		const allowed = createBench(undefined, { clientAttributes: { other: true } });
		expect((await allowed.ask(chatPath, chatBody, { authorization: 'Bearer other', [header]: 'a=b' })).status).toBe(200);
	});
});
