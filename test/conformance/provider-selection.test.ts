/** Provider selection: asserted by response headers, and by the requests that the simulated providers received. */
import { expect, it } from 'vitest';
import type { ObservedUpstream } from '../support/simulator-control.ts';
import { describeOwn, type Subject, send, useSubject } from './subject.ts';

const chatPath = '/v1/chat/completions';
const messagesPath = '/v1/messages';

interface Selection {
	readonly title: string;
	readonly path: string;
	readonly model: string;
	readonly header?: string;
	/** Provider, and the model that its request names. */
	readonly goesTo: readonly [provider: string, model: string];
}

/** Features of received requests that identify each provider. */
const marks: Readonly<Record<string, { dialect: string; key: string }>> = {
	provider_a: { dialect: 'anthropic', key: '-key' },
	provider_b: { dialect: 'openai', key: '-key' },
	provider_d: { dialect: 'azure', key: '-key' },
	local: { dialect: 'openai', key: 'ocal' },
	second_a: { dialect: 'anthropic', key: 'nd-a' },
};

const aliases = {
	fast: 'provider_b/gpt-4o-mini',
	careful: 'provider_a/claude-sonnet-4-5',
	'gpt-4-turbo': 'provider_d/team-deployment',
	'sim-alias': 'provider_b/gpt-4o-mini',
	'house/best': 'local/meta/llama-sim-text',
};

/** Starts a product with two providers of each format; the simulator plays all of them. */
function useRoutedSubject(providerHeader: string): { readonly current: Subject } {
	const reachable = { allow_private_network: true };
	return useSubject((simulatorUrl) => ({
		routing: { provider_header: providerHeader, aliases },
		providers: {
			local: {
				...reachable,
				kind: 'openai-compatible',
				base_url: `${simulatorUrl}/openai/v1`,
				api_key: 'key-of-local',
				models: ['listed-sim-model'],
			},
			second_a: { ...reachable, kind: 'anthropic', base_url: `${simulatorUrl}/anthropic`, api_key: 'key-of-second-a' },
		},
	}));
}

async function ask(
	subject: Subject,
	{ path, model, header }: Pick<Selection, 'path' | 'model' | 'header'>,
	extra: object = {},
): Promise<Response> {
	return send(subject, path, {
		...(header !== undefined && { headers: { 'x-gateway-provider': header } }),
		body: { model, ...(path === messagesPath && { max_tokens: 20 }), messages: [{ role: 'user', content: 'Say hello.' }], ...extra },
	});
}

async function expectSelection(subject: Subject, selection: Selection): Promise<void> {
	const [provider, model] = selection.goesTo;
	const response = await ask(subject, selection);
	const httpResponse = (await response.json()) as { model?: string };
	expect([response.status, response.headers.get('x-gateway-provider'), response.headers.get('x-gateway-model')]).toEqual([
		200,
		provider,
		model,
	]);
	const seen = await subject.simulator.newestRequest();
	expect(idHash(seen)).toEqual({ ...marks[provider], model });
	expect(seen.headers['x-gateway-provider']).toBeUndefined();
	// Azure responses name the model behind the deployment.
	if (seen.dialect !== 'azure') expect(httpResponse.model).toContain(model);
}

function idHash({ dialect, key, model }: ObservedUpstream): { dialect: string; key: string; model: string } {
	return { dialect, key, model };
}

async function expectRejection(subject: Subject, header: string | undefined, expectBody: (text: string) => void): Promise<void> {
	const before = await subject.simulator.requestsServed();
	for (const path of [chatPath, messagesPath]) {
		for (const stream of [false, true]) {
			const model = path === chatPath ? 'gpt-4o-mini' : 'claude-sonnet-4-5';
			const response = await ask(subject, { path, model, ...(header !== undefined && { header }) }, { stream });
			expect(response.status).toBe(400);
			expect(response.headers.get('content-type')).toBe('application/json');
			expectBody(await response.text());
		}
	}
	expect(await subject.simulator.requestsServed(), 'a provider was called').toBe(before);
}

const byName: Selection[] = [
	{ title: 'a prefix names the provider', path: chatPath, model: 'provider_d/team-deployment', goesTo: ['provider_d', 'team-deployment'] },
	{ title: 'a prefix wins over the family', path: chatPath, model: 'local/gpt-4o', goesTo: ['local', 'gpt-4o'] },
	{ title: 'only the first slash ends a prefix', path: chatPath, model: 'local/meta/llama-sim-x', goesTo: ['local', 'meta/llama-sim-x'] },
	{ title: 'a prefix on messages', path: messagesPath, model: 'second_a/claude-haiku-4-5', goesTo: ['second_a', 'claude-haiku-4-5'] },
	{
		title: 'a prefix that is no provider belongs to the name',
		path: chatPath,
		model: 'meta/llama-sim-x',
		goesTo: ['provider_b', 'meta/llama-sim-x'],
	},
	{ title: 'an alias', path: chatPath, model: 'fast', goesTo: ['provider_b', 'gpt-4o-mini'] },
	{ title: 'an alias on messages', path: messagesPath, model: 'careful', goesTo: ['provider_a', 'claude-sonnet-4-5'] },
	{ title: 'an alias wins over the family', path: chatPath, model: 'gpt-4-turbo', goesTo: ['provider_d', 'team-deployment'] },
	{ title: 'an alias with a slash', path: chatPath, model: 'house/best', goesTo: ['local', 'meta/llama-sim-text'] },
	{ title: 'a configured model', path: chatPath, model: 'listed-sim-model', goesTo: ['local', 'listed-sim-model'] },
	{ title: 'a deployment', path: chatPath, model: 'team-deployment', goesTo: ['provider_d', 'team-deployment'] },
	{ title: 'the family gpt-', path: chatPath, model: 'gpt-4o', goesTo: ['provider_b', 'gpt-4o'] },
	{ title: 'the family chatgpt-', path: chatPath, model: 'chatgpt-sim-text', goesTo: ['provider_b', 'chatgpt-sim-text'] },
	{ title: 'the family o1', path: chatPath, model: 'o1-sim-text', goesTo: ['provider_b', 'o1-sim-text'] },
	{ title: 'the family claude-', path: messagesPath, model: 'claude-sonnet-4-5', goesTo: ['provider_a', 'claude-sonnet-4-5'] },
	{ title: 'the default of chat', path: chatPath, model: 'sim-text', goesTo: ['provider_b', 'sim-text'] },
	{ title: 'the default of messages', path: messagesPath, model: 'sim-text', goesTo: ['provider_a', 'sim-text'] },
];

describeOwn('Spec: Provider routing, current release: provider_header ignore', 'a configuration of its own', () => {
	const subject = useRoutedSubject('ignore');

	it.each(byName)('$title', async (selection) => expectSelection(subject.current, selection));

	it('the header decides nothing, whatever it says', async () => {
		for (const header of ['provider_a', 'provider_d', 'no-such-provider', '']) {
			await expectSelection(subject.current, { title: '', path: chatPath, model: 'gpt-4o', header, goesTo: ['provider_b', 'gpt-4o'] });
		}
	});

	it.each([chatPath, messagesPath])(
		'Errors, rule 1: %s passes the default provider’s own error for a model that it does not know',
		async (path) => {
			const response = await ask(subject.current, { path, model: 'no-such-thing' });
			expect([response.status, response.headers.get('x-gateway-upstream-status')]).toEqual([502, '404']);
			const { error } = (await response.json()) as { error: { message: string; type: string } };
			expect(error.message).toContain('no-such-thing');
			expect(error.type).toBe(path === chatPath ? 'invalid_request_error' : 'not_found_error');
		},
	);

	it('GET /v1/models names aliases, deployments and configured models', async () => {
		const response = await send(subject.current, '/v1/models', { method: 'GET' });
		const { data } = (await response.json()) as { data: { id: string }[] };
		expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining([...Object.keys(aliases), 'team-deployment', 'listed-sim-model']));
	});
});

describeOwn('provider_header optional', 'a configuration of its own', () => {
	const subject = useRoutedSubject('optional');
	const cases: Selection[] = [
		{ title: 'the header wins over the family', path: chatPath, header: 'provider_d', model: 'gpt-4o', goesTo: ['provider_d', 'gpt-4o'] },
		{ title: 'the header wins over an alias', path: chatPath, header: 'local', model: 'sim-alias', goesTo: ['local', 'sim-alias'] },
		{
			title: 'the header wins over a prefix',
			path: chatPath,
			header: 'provider_d',
			model: 'local/gpt-4o',
			goesTo: ['provider_d', 'local/gpt-4o'],
		},
		{
			title: 'an alias to the same provider counts',
			path: chatPath,
			header: 'provider_b',
			model: 'fast',
			goesTo: ['provider_b', 'gpt-4o-mini'],
		},
		{ title: 'a prefix of the same provider counts', path: chatPath, header: 'local', model: 'local/gpt-4o', goesTo: ['local', 'gpt-4o'] },
		{ title: 'on messages', path: messagesPath, header: 'second_a', model: 'claude-haiku-4-5', goesTo: ['second_a', 'claude-haiku-4-5'] },
		{
			title: 'blanks around its value mean nothing',
			path: chatPath,
			header: '  provider_d ',
			model: 'gpt-4o',
			goesTo: ['provider_d', 'gpt-4o'],
		},
	];

	it.each([...cases, ...byName])('$title', async (selection) => expectSelection(subject.current, selection));

	it.each(['no-such-provider', 'provider_b, provider_d', 'PROVIDER_B', '__proto__', 'constructor'])(
		'the unknown value %s is 400 and names the known ones',
		async (header) =>
			expectRejection(subject.current, header, (text) => {
				const { error } = JSON.parse(text) as { error: { message: string; code: string } };
				expect(error.code).toBe('provider_unknown');
				for (const name of Object.keys(marks)) expect(error.message).toContain(name);
			}),
	);
});

describeOwn('Spec: Provider routing, earlier release: provider_header required', 'a configuration of its own', () => {
	const subject = useRoutedSubject('required');

	it.each([undefined, '', '   '])('a missing header (%j) is 400 with exactly the specified body', async (header) =>
		expectRejection(subject.current, header, (text) => expect(text).toBe('{"error":"provider is not set"}')),
	);

	it('an unknown value is 400 and names the known ones', async () =>
		expectRejection(subject.current, 'no-such-provider', (text) =>
			expect(text).toContain('provider_a, provider_b, provider_c, provider_d'),
		));

	it.each(['provider_b', 'provider_d', 'local'])('%s serves chat completions', async (header) =>
		expectSelection(subject.current, { title: '', path: chatPath, model: 'gpt-4o', header, goesTo: [header, 'gpt-4o'] }),
	);

	it.each(['provider_a', 'second_a'])('%s serves messages', async (header) =>
		expectSelection(subject.current, {
			title: '',
			path: messagesPath,
			model: 'claude-haiku-4-5',
			header,
			goesTo: [header, 'claude-haiku-4-5'],
		}),
	);
});
