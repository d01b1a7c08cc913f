import { describe, expect, it } from 'vitest';
import { GatewayBench, HandStream, jsonResponse, Reader } from '../../../test/support/gateway-bench.ts';
import {
	type CallerFormat,
	callerPaths,
	gambling,
	guardrailsWith,
	nonStreamingResponses,
	piiRules,
	responseEvents,
} from '../../../test/support/guarded-gateway.ts';
import type { ByteStream, HttpResponse } from '../../core/handler.ts';
import type { RuleAction } from '../../policy/guardrails/guardrail.ts';
import type { GuardrailSettings } from '../../policy/guardrails/guardrails.ts';

function settings(isEnforced: boolean, action: RuleAction = 'block', more: Partial<GuardrailSettings> = {}): GuardrailSettings {
	return guardrailsWith({
		isEnforced,
		pii: piiRules('none', { ssn: action, card: action, email: action, phone: action }),
		words: { entries: ['darkfish'], action },
		patterns: [{ name: 'ticket', pattern: 'TCK-[0-9]{4}', action }],
		topics: [{ ...gambling, action: action === 'mask' ? 'block' : action }],
		...more,
	});
}

function request(format: CallerFormat, text: string, stream: boolean): string {
	const model = format === 'chat' ? 'gpt-5' : 'claude-opus-4-5';
	return JSON.stringify({ model, max_tokens: 9, stream, messages: [{ role: 'user', content: text }] });
}

interface ModerationContext {
	readonly bench: GatewayBench;
	readonly response: HttpResponse;
	readonly text: string;
	readonly upstream: HandStream | undefined;
}

async function ask(
	guardrails: GuardrailSettings,
	format: CallerFormat,
	prompt: string,
	httpResponse: readonly string[],
	isStreaming: boolean,
): Promise<ModerationContext> {
	const bench = new GatewayBench({ guardrails });
	let upstream: HandStream | undefined;
	bench.respond = () => {
		if (!isStreaming) return jsonResponse(200, nonStreamingResponses[format](httpResponse.join('')));
		upstream = new HandStream();
		return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: upstream };
	};
	const response = await bench.ask(callerPaths[format], request(format, prompt, isStreaming));
	let text = typeof response.body === 'string' || Buffer.isBuffer(response.body) ? response.body.toString() : '';
	if (upstream !== undefined) {
		const reader = new Reader();
		(response.body as ByteStream).start(reader);
		for (const event of responseEvents[format](httpResponse)) if (!upstream.isCancelled) upstream.write(event);
		if (!upstream.isCancelled) upstream.sink?.end();
		text = reader.text;
		expect(reader.ending).toBe('ended');
	}
	for (let round = 0; round < 20; round++) {
		bench.clock.advance(5);
		await new Promise((resolve) => setImmediate(resolve));
	}
	return { bench, response, text, upstream };
}

const assessments = ({ bench }: ModerationContext): readonly unknown[] =>
	bench.log.lines.filter(({ event }) => event === 'guardrail assessment').map(({ fields }) => fields);

const violations = [
	['pii', 'card', ['My card is 4111 11', '11 1111 1111, ok?']],
	['words', 'listed', ['Bring the dark', 'fish over.']],
	['patterns', 'ticket', ['It is TCK-', '1234 now']],
	['topics', 'gambling', ['Let us play rou', 'lette tonight. And more.']],
] as const;
const clean = ['Nothing to see', ' here, carry on.'];
const cells = violations.flatMap(([policy, category, pieces]) =>
	(['chat', 'messages'] as const).flatMap((format) =>
		[true, false].map((isStreaming) => ({ policy, category, pieces, format, isStreaming })),
	),
);

describe('guardrails', () => {
	it.each(cells)('$policy, $format, streamed $isStreaming: enforced, the request is blocked before it is sent', async (cell) => {
		const requested = await ask(settings(true), cell.format, cell.pieces.join(''), clean, cell.isStreaming);
		expect(requested.response.status).toBe(400);
		expect(requested.bench.sent).toHaveLength(0);
		expect(JSON.parse(requested.text)).toMatchObject({
			error: { code: 'guardrail_blocked', message: expect.stringContaining(cell.category) as unknown },
		});
		expect(assessments(requested)).toMatchObject([
			{ stage: 'input', policy: cell.policy, category: cell.category, action: 'BLOCK', requestId: 'req-1' },
		]);
		expect(JSON.stringify(requested.bench.log.lines)).not.toMatch(/4111|darkfish|TCK-|roulette/);
	});

	it.each(cells)('$policy, $format, streamed $isStreaming: enforced, nothing of the match in the response is delivered', async (cell) => {
		const requested = await ask(settings(true), cell.format, 'hello', cell.pieces, cell.isStreaming);
		expect(requested.bench.sent).toHaveLength(1);
		expect(requested.text).toContain('guardrail_blocked');
		for (const secret of ['4111', 'dark', 'TCK', 'rou', '1111']) expect(requested.text).not.toContain(secret);
		expect(assessments(requested)).toMatchObject([{ stage: 'output', policy: cell.policy, category: cell.category, action: 'BLOCK' }]);
		if (requested.upstream !== undefined) {
			expect(requested.upstream.isCancelled).toBe(true);
			expect(requested.text.endsWith('\n\n')).toBe(true);
		} else expect(requested.response.status).toBe(400);
	});

	it.each(cells)('$policy, $format, streamed $isStreaming: not enforced, bytes are untouched and the matches reported', async (cell) => {
		const prompt = cell.pieces.join('');
		const requested = await ask(settings(false), cell.format, prompt, cell.pieces, cell.isStreaming);
		expect(requested.text).toBe(
			cell.isStreaming ? responseEvents[cell.format](cell.pieces).join('') : nonStreamingResponses[cell.format](prompt),
		);
		expect(requested.bench.sent).toHaveLength(1);
		const common = { policy: cell.policy, category: cell.category, action: 'NONE' };
		expect(assessments(requested)).toMatchObject([
			{ stage: 'input', ...common },
			{ stage: 'output', ...common },
		]);
	});

	it.each(cells.slice(0, 4))(
		'$format, streamed $isStreaming: clean text passes byte for byte, enforced or not',
		async ({ format, isStreaming }) => {
			for (const isEnforced of [true, false]) {
				const requested = await ask(settings(isEnforced), format, 'hello', clean, isStreaming);
				expect(requested.text).toBe(isStreaming ? responseEvents[format](clean).join('') : nonStreamingResponses[format](clean.join('')));
				expect(assessments(requested)).toEqual([]);
			}
		},
	);

	it.each(cells.slice(0, 8))('$policy, $format, streamed $isStreaming: masks in request and response', async (cell) => {
		const prompt = cell.pieces.join('');
		const requested = await ask(settings(true, 'mask'), cell.format, prompt, cell.pieces, cell.isStreaming);
		const label = cell.policy === 'pii' ? '[CARD]' : '[WORD]';
		const sent = Buffer.from((requested.bench.sent[0]?.body ?? '') as Buffer).toString();
		expect(sent).toContain(label);
		for (const text of [sent, requested.text]) for (const secret of ['4111', '1111', 'dark', 'fish']) expect(text).not.toContain(secret);
		expect(requested.text).toContain(label);
	});

	it('a stream is delayed by little more than a possible match', async () => {
		const bench = new GatewayBench({ guardrails: settings(true, 'block', { patterns: [], topics: [] }) });
		const upstream = new HandStream();
		bench.respond = () => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: upstream });
		const response = await bench.ask(callerPaths.chat, request('chat', 'hi', true));
		const reader = new Reader();
		(response.body as ByteStream).start(reader);
		const [start = '', first = '', second = ''] = responseEvents.chat(['The answer is ', 'forty ']);
		upstream.write(start + first);
		expect(reader.text).toContain('assistant');
		upstream.write(second);
		expect(reader.text).toContain('The answer is ');
	});

	it('unreadable content is reported, and blocked if configured', async () => {
		const image = JSON.stringify({
			model: 'gpt-5',
			messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }],
		});
		for (const [unreadable, status] of [
			['pass', 200],
			['block', 400],
		] as const) {
			const bench = new GatewayBench({ guardrails: settings(true, 'block', { unreadable }) });
			bench.respond = () => jsonResponse(200, nonStreamingResponses.chat('ok'));
			expect((await bench.ask(callerPaths.chat, image)).status).toBe(status);
			expect(bench.log.lines.map(({ event }) => event)).toContain('guardrails not evaluated');
		}
	});

	it('teams can have rules of their own', async () => {
		const teams = { 'team-1': { pii: 'log', 'words.listed': 'none' } } as const;
		const requested = await ask(settings(true, 'block', { teams }), 'chat', 'darkfish 4111 1111 1111 1111', clean, false);
		expect(requested.response.status).toBe(200);
		expect(assessments(requested)).toMatchObject([{ policy: 'pii', category: 'card', action: 'NONE' }]);
	});
});
