/** Every combination of stage, client format, stream, policy and enforcement, with and without a match, to a model of each provider. */

import { describe, expect, it } from 'vitest';
import { readContentWeights } from '../../../content-filter/read-weights.ts';
import {
	compatProvider,
	GatewayBench,
	HandStream,
	jsonResponse,
	Reader,
	sentText,
	sseResponse,
	testSettings,
} from '../../../test/support/gateway-bench.ts';
import {
	type CallerFormat,
	callerPaths,
	contentAt,
	gambling,
	guardrailsWith,
	nonStreamingResponses,
	piiRules,
	responseEvents,
} from '../../../test/support/guarded-gateway.ts';
import { isByteStream } from '../../core/byte-stream.ts';
import { createContentScorer } from '../../policy/guardrails/content/content-scorer.ts';
import type { GuardrailSettings } from '../../policy/guardrails/guardrails.ts';

const contentScorer = createContentScorer(readContentWeights());

function settings(isEnforced: boolean): GuardrailSettings {
	return guardrailsWith({ isEnforced, content: contentAt('medium'), pii: piiRules('block'), topics: [gambling] });
}

const wires = { provider_a: 'messages', provider_b: 'chat', provider_c: 'gemini', provider_d: 'chat', compat: 'chat' } as const;
type ProviderName = keyof typeof wires;
const models: Record<ProviderName, string> = {
	provider_a: 'claude-opus-4-5',
	provider_b: 'gpt-5',
	provider_c: 'gemini-3',
	provider_d: 'our-gpt',
	compat: 'compat/gemini-3',
};

const providers = [...testSettings.providers, compatProvider];

interface Cell {
	readonly format: CallerFormat;
	readonly provider: ProviderName;
	readonly isStreaming: boolean;
}

interface ModerationContext {
	readonly bench: GatewayBench;
	readonly status: number;
	readonly text: string;
	/** Length of the text that the client had read after each provider event. */
	readonly readAfter: readonly number[];
	readonly upstream: HandStream | undefined;
	readonly rows: readonly string[];
}

async function ask(
	guardrails: GuardrailSettings | undefined,
	cell: Cell,
	prompt: string,
	httpResponse: readonly string[],
): Promise<ModerationContext> {
	const { format, provider, isStreaming } = cell;
	const bench = new GatewayBench({ providers, ...(guardrails !== undefined && { guardrails }) }, { contentScorer });
	const wire = wires[provider];
	let upstream: HandStream | undefined;
	bench.respond = () => {
		if (!isStreaming) return jsonResponse(200, nonStreamingResponses[wire](httpResponse.join('')));
		upstream = new HandStream();
		return sseResponse(upstream);
	};
	const body = { model: models[provider], max_tokens: 9, stream: isStreaming, messages: [{ role: 'user', content: prompt }] };
	const response = await bench.ask(callerPaths[format], JSON.stringify(body));
	const readAfter: number[] = [];
	let text = '';
	if (response.body !== null && isByteStream(response.body)) {
		const reader = new Reader();
		response.body.start(reader);
		for (const event of responseEvents[wire](httpResponse)) {
			if (upstream?.isCancelled === false) upstream.write(event);
			readAfter.push(reader.text.length);
		}
		if (upstream?.isCancelled === false) upstream.sink?.end();
		expect(reader.ending).toBe('ended');
		({ text } = reader);
	} else {
		text = response.body?.toString() ?? '';
	}
	for (let round = 0; round < 20; round++) {
		bench.clock.advance(5);
		await new Promise((resolve) => setImmediate(resolve));
	}
	await bench.gateway.settled();
	const { rows } = await bench.ledger.list({ limit: 10 });
	return { bench, status: response.status, text, readAfter, upstream, rows: rows.map(({ closed }) => closed?.outcome ?? 'open') };
}

const reported = ({ bench }: ModerationContext): readonly unknown[] =>
	bench.log.lines
		.filter(({ event }) => event === 'guardrail assessment')
		.map(({ fields: { stage, policy, category, action } }) => [stage, policy, category, action].join(' '));

const policies = [
	{ policy: 'content', category: 'violence', pieces: ['I will kill ', 'you and your', ' family.'], secrets: ['kill', 'family'] },
	{ policy: 'pii', category: 'card', pieces: ['My card is 4111 11', '11 1111 ', '1111, ok?'], secrets: ['4111', '1111'] },
	{ policy: 'topics', category: 'gambling', pieces: ['Let us play rou', 'lette tonight.', ' And more.'], secrets: ['rou', 'lette'] },
	{ policy: 'words', category: 'listed', pieces: ['Bring the dark', 'fish', ' over.'], secrets: ['dark', 'fish'] },
] as const;
const clean = ['Nothing to see', ' here,', ' carry on. ', 'All is well.'];
const cells = (['chat', 'messages'] as const).flatMap((format) =>
	(Object.keys(wires) as ProviderName[]).flatMap((provider) =>
		[true, false].map((isStreaming): Cell => ({ format, provider, isStreaming })),
	),
);

describe.each(cells)('$format to $provider, streamed $isStreaming', (cell) => {
	describe.each(policies)('$policy', ({ policy, category, pieces, secrets }) => {
		it('input, enforced: rejected before the provider receives it, and nothing is reserved', async () => {
			const requested = await ask(settings(true), cell, pieces.join(''), clean);
			expect(requested.status).toBe(400);
			expect(requested.bench.sent).toHaveLength(0);
			expect(requested.rows).toEqual([]);
			expect(await requested.bench.admission.read('team-1', [])).toMatchObject({ requestsThisMinute: 0, tokensToday: 0 });
			expect(JSON.parse(requested.text)).toMatchObject({
				type: 'error',
				error: {
					code: 'guardrail_blocked',
					message: `The request was blocked by guardrails: policy \`${policy}\`, category \`${category}\``,
				},
			});
			expect(reported(requested)).toContain(`input ${policy} ${category} BLOCK`);
			if (policy !== 'content') expect(reported(requested)).toHaveLength(1);
			for (const secret of secrets) expect(requested.text + JSON.stringify(requested.bench.log.lines)).not.toContain(secret);
		});

		it('output, enforced: nothing of the match is delivered, the request ends and is charged', async () => {
			const requested = await ask(settings(true), cell, 'hello', pieces);
			expect(requested.bench.sent).toHaveLength(1);
			expect(requested.text).toContain('guardrail_blocked');
			expect(requested.text).toContain(`policy \`${policy}\`, category \`${category}\``);
			for (const secret of secrets) expect(requested.text + JSON.stringify(requested.bench.log.lines)).not.toContain(secret);
			expect(reported(requested)).toContain(`output ${policy} ${category} BLOCK`);
			expect(requested.rows).toHaveLength(1);
			expect(requested.rows).not.toContain('open');
			if (!cell.isStreaming) {
				expect(requested.status).toBe(400);
				return;
			}
			expect(requested.upstream?.isCancelled).toBe(true);
			// The last event is the error, and none reports a complete response.
			expect(requested.text.endsWith('\n\n')).toBe(true);
			expect(requested.text.trimEnd().split('\n\n').at(-1)).toContain('guardrail_blocked');
			expect(requested.text).not.toMatch(/\[DONE\]|message_stop/);
		});

		it('not enforced: bytes and their timing are those of a gateway without guardrails, and the matches are reported', async () => {
			const prompt = pieces.join('');
			const [requested, without] = [await ask(settings(false), cell, prompt, pieces), await ask(undefined, cell, prompt, pieces)];
			expect(requested.status).toBe(200);
			expect([requested.text, requested.readAfter]).toEqual([without.text, without.readAfter]);
			expect(requested.bench.sent.map(sentText)).toEqual(without.bench.sent.map(sentText));
			expect(reported(requested)).toContain(`input ${policy} ${category} NONE`);
			expect(reported(requested)).toContain(`output ${policy} ${category} NONE`);
			expect(requested.rows).toEqual(without.rows);
		});
	});

	it.each([true, false])('clean, enforced %s: bytes are those without guardrails, and nothing is reported', async (isEnforced) => {
		const [requested, without] = [await ask(settings(isEnforced), cell, 'hello', clean), await ask(undefined, cell, 'hello', clean)];
		expect(requested.status).toBe(200);
		expect(requested.text).toBe(without.text);
		if (!isEnforced) expect(requested.readAfter).toEqual(without.readAfter);
		expect(requested.bench.sent.map(sentText)).toEqual(without.bench.sent.map(sentText));
		expect(reported(requested)).toEqual([]);
		expect(requested.rows).toEqual(without.rows);
	});
});
