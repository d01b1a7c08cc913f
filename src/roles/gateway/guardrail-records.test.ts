/** Records of guardrails: assessments, verdicts and costs; and the effect of moderation providers on streams. */
import { describe, expect, it } from 'vitest';
import {
	GatewayBench,
	HandStream,
	jsonResponse,
	Reader,
	sentText,
	settle,
	sseResponse,
	teamDirectory,
	textOf,
} from '../../../test/support/gateway-bench.ts';
import { chatChunk, guardrailsWith, moderationWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import { plainBudget } from '../../core/budget.ts';
import { allModels } from '../../core/budget-scope.ts';
import type { ByteStream, HttpResponse } from '../../core/handler.ts';
import type { GuardrailSettings } from '../../policy/guardrails/guardrails.ts';
import { periodOf } from '../../policy/limits/utc-time.ts';
import type { Assessment } from '../../stores/contracts/assessments.ts';
import type { ModerationProviderSettings } from './moderation/moderation-settings.ts';

const guardrails = guardrailsWith({ pii: piiRules('none', { card: 'block', email: 'mask' }) });
const moderationProvider = moderationWith();

const budget = { ...plainBudget, id: 'all', model: null, limitNanoUsd: 10n ** 12n, warningThresholdPercent: 80, hardLimitPercent: 100 };

class Guarded {
	readonly bench: GatewayBench;
	/** Texts that the moderation provider received. */
	readonly evaluated: string[] = [];
	judge: (texts: string[]) => HttpLike | Promise<HttpLike> = (texts) => ({ status: 200, body: verdict(texts) });
	upstream: HandStream | undefined;

	constructor(
		settings: Partial<GuardrailSettings> = {},
		moderationProviders: readonly ModerationProviderSettings[] = [],
		response = 'fine',
	) {
		this.bench = new GatewayBench(
			{ guardrails: { ...guardrails, ...settings } },
			{
				moderationProviders,
				teams: teamDirectory({ team: () => undefined, budgetsFor: () => [budget], budgetsOf: () => [budget] }),
			},
		);
		this.bench.respond = async (request) => {
			if (request.origin === 'https://engine.test') {
				const { input } = JSON.parse(sentText(request)) as { input: { text: string }[] | string[] };
				const texts = input.map((one) => (typeof one === 'string' ? one : one.text));
				this.evaluated.push(...texts);
				const { status, body } = await this.judge(texts);
				return jsonResponse(status, body);
			}
			if (!sentText(request).includes('"stream":true')) {
				const usage = { prompt_tokens: 1000, completion_tokens: 500 };
				return jsonResponse(200, JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: response } }], usage }));
			}
			this.upstream = new HandStream();
			return sseResponse(this.upstream);
		};
	}

	ask(prompt: string, stream = false): Promise<HttpResponse> {
		return this.bench.ask(
			'/v1/chat/completions',
			JSON.stringify({ model: 'gpt-5', stream, messages: [{ role: 'user', content: prompt }] }),
		);
	}

	async read(response: HttpResponse): Promise<Reader> {
		const reader = new Reader();
		(response.body as ByteStream).start(reader);
		await settle();
		return reader;
	}

	async say(text: string): Promise<void> {
		this.upstream?.write(chatChunk({ content: text }));
		await settle();
	}

	async finish(): Promise<void> {
		this.upstream?.write(chatChunk({}, 'stop'));
		this.upstream?.write('data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":500}}\n\ndata: [DONE]\n\n');
		this.upstream?.sink?.end();
		for (let turn = 0; turn < 5; turn++) await settle();
	}

	async reported(outcome?: Assessment['outcome']): Promise<string[]> {
		const { assessments } = await this.bench.ledger.listAssessments({ limit: 100, ...(outcome && { outcome }) });
		return assessments.map((one) => [one.requestId, one.stage, one.policy, one.category, one.action, one.outcome].join(' '));
	}

	async money(): Promise<{ settled: bigint | undefined; reserved: bigint | undefined; requests: number }> {
		await this.bench.gateway.settled();
		const period = periodOf(this.bench.clock.nowMs());
		const { budgets, requestsThisMinute } = await this.bench.admission.read('team-1', [{ budget: allModels, period }]);
		return { settled: budgets[0]?.settledNanoUsd, reserved: budgets[0]?.reservedNanoUsd, requests: requestsThisMinute };
	}
}

interface HttpLike {
	readonly status: number;
	readonly body: string;
}

function verdict(texts: readonly string[]): string {
	const results = texts.map((text) => ({ flagged: false, categories: {}, category_scores: { hate: text.includes('evil') ? 0.99 : 0.01 } }));
	return JSON.stringify({ results });
}

describe('records', () => {
	it('for a request that is blocked: nothing counted, reserved or recorded but its assessment', async () => {
		const guarded = new Guarded();
		expect((await guarded.ask('the darkfish')).status).toBe(400);
		expect(guarded.bench.sent).toEqual([]);
		expect(await guarded.money()).toMatchObject({ settled: 0n, reserved: 0n, requests: 0 });
		expect((await guarded.bench.ledger.list({ limit: 9 })).rows).toEqual([]);
		expect(await guarded.reported()).toEqual(['req-1 input words listed BLOCK matched']);
	});

	it.each([false, true])(
		'for a response that is blocked, streamed %s: cost settled, reservation released, the entry as the client saw it',
		async (stream) => {
			const guarded = new Guarded({}, [], 'Here comes the darkfish.');
			const response = await guarded.ask('hello', stream);
			if (stream) {
				const reader = await guarded.read(response);
				await guarded.say('Here comes the dark');
				await guarded.say('fish. And more of it.');
				expect(reader.text).toContain('guardrail_blocked');
				expect(guarded.upstream?.isCancelled).toBe(true);
			} else expect(response.status).toBe(400);
			const { settled, reserved, requests } = await guarded.money();
			expect([reserved, requests]).toEqual([0n, 1]);
			expect(settled).toBeGreaterThan(0n);
			const { rows } = await guarded.bench.ledger.list({ limit: 9 });
			expect(rows.map(({ closed }) => closed)).toMatchObject([
				stream ? { outcome: 'broken', status: 200 } : { outcome: 'complete', status: 400 },
			]);
			expect(rows[0]?.closed?.costNanoUsd).toBe(settled);
			expect(await guarded.reported()).toEqual(['req-1 output words listed BLOCK matched']);
			expect((await guarded.bench.ledger.verdictsOf(['req-1'])).get('req-1')).toEqual({ outcome: 'matched', hasOutput: true });
		},
	);

	it('for a clean request: that input and output were evaluated, its real cost, and 200', async () => {
		const guarded = new Guarded();
		expect((await guarded.ask('hello')).status).toBe(200);
		expect(await guarded.reported()).toEqual([]);
		expect(await guarded.reported('clean')).toEqual(['req-1 output   NONE clean', 'req-1 input   NONE clean']);
		expect((await guarded.money()).reserved).toBe(0n);
		expect((await guarded.bench.ledger.list({ limit: 9 })).rows[0]?.closed).toMatchObject({ outcome: 'complete', status: 200 });
	});

	it('for masks, and for unreadable content', async () => {
		const guarded = new Guarded();
		await guarded.ask('ada@example.org');
		expect(await guarded.reported()).toEqual(['req-1 input pii email MASK masked']);
		const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
		const body = JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content: [image] }] });
		await guarded.bench.ask('/v1/chat/completions', body, {}, { id: 'req-2' });
		expect(await guarded.reported('not_evaluated')).toEqual(['req-2 input unreadable image_url NONE not_evaluated']);
	});
});

it('an internal error of monitoring is reported, and harms no request', async () => {
	const guarded = new Guarded({ isEnforced: false }, [moderationProvider]);
	const { ledger, log } = guarded.bench;
	const assess = ledger.assess.bind(ledger);
	let failures = 0;
	const pass = async (): Promise<void> => {
		for (let turn = 0; turn < 20; turn++) {
			guarded.bench.clock.advance(1);
			await settle();
		}
	};
	ledger.assess = () => {
		failures += 1;
		throw new Error('broken');
	};
	for (let count = 0; count < 3; count++) expect((await guarded.ask('the darkfish')).status).toBe(200);
	await pass();
	expect(failures).toBeGreaterThan(3);
	expect(log.lines.filter(({ level }) => level === 'error')).toMatchObject(
		Array.from({ length: failures }, () => ({ event: 'guardrails not evaluated', fields: { cause: { message: 'broken' } } })),
	);
	ledger.assess = assess;
	expect((await guarded.ask('the darkfish')).status).toBe(200);
	await pass();
	expect((await guarded.reported('matched')).length, 'it goes on').toBeGreaterThan(0);
});

describe('monitor mode', () => {
	const waited = async (record: HttpResponse['record']): Promise<readonly string[] | undefined> => {
		await record?.evaluations;
		return record?.monitored;
	};

	it('of a moderation provider: no request waits for it, and the record has what it would have done', async () => {
		const guarded = new Guarded({ monitored: ['moderation.mod'] }, [moderationProvider]);
		const judged = Promise.withResolvers<void>();
		guarded.judge = async (texts) => {
			await judged.promise;
			return { status: 200, body: verdict(texts) };
		};
		const { status, record } = await guarded.ask('evil');
		expect([status, record?.monitored]).toEqual([200, undefined]);
		judged.resolve();
		expect(await waited(record)).toEqual(['guardrail_blocked']);
		expect(await guarded.reported('matched')).toEqual(['req-1 input moderation mod.hate NONE matched']);
	});

	it('of a rule: a match passes while another rule masks, on input and output', async () => {
		const guarded = new Guarded({ monitored: ['words.listed', 'pii.card'] }, [], 'the darkfish of jane@example.com');
		const response = await guarded.ask('4111 1111 1111 1111 of jane@example.com');
		expect([response.status, sentText(guarded.bench.sent[0] as never)]).toEqual([
			200,
			expect.stringContaining('4111 1111 1111 1111 of [EMAIL]'),
		]);
		expect(textOf(response)).toContain('the darkfish of [EMAIL]');
		expect(await waited(response.record)).toEqual(['guardrail_blocked']);
	});

	it('of a rule that masks has a code of its own', async () => {
		const guarded = new Guarded({ monitored: ['pii.email'] });
		const response = await guarded.ask('jane@example.com');
		expect([sentText(guarded.bench.sent[0] as never), await waited(response.record)]).toEqual([
			expect.stringContaining('jane@example.com'),
			['guardrail_masked'],
		]);
	});

	it.each([false, true])(
		'of all rules holds nothing of a stream back, and the record waits for its evaluation (cancelled: %s)',
		async (isCancelled) => {
			const guarded = new Guarded({ monitored: ['words.listed', 'pii.card', 'pii.email'] });
			const response = await guarded.ask('hello', true);
			const reader = new Reader();
			const flow = (response.body as ByteStream).start(reader);
			await settle();
			await guarded.say('the dark');
			expect(reader.text).toContain('the dark');
			await guarded.say('fish');
			expect(reader.text).toContain('fish');
			if (isCancelled) flow.cancel();
			else await guarded.finish();
			expect(reader.text).not.toContain('error');
			for (let turn = 0; turn < 20; turn++) {
				guarded.bench.clock.advance(1);
				await settle();
			}
			expect(await waited(response.record)).toEqual(['guardrail_blocked']);
		},
	);
});

describe('a stream that moderation providers evaluate', () => {
	const sentence = 'All is well in the quiet valley below the hills, as it was yesterday. ';

	it('is released in pieces, each after its evaluation, and completely in the end, byte for byte', async () => {
		const guarded = new Guarded({}, [moderationProvider]);
		const reader = await guarded.read(await guarded.ask('hello', true));
		await guarded.say(sentence);
		expect(reader.text).toBe('');
		for (let count = 0; count < 6; count++) await guarded.say(sentence);
		await settle();
		expect(reader.text).toContain('quiet valley');
		await guarded.say('The end');
		expect(reader.text).not.toContain('The end');
		await guarded.finish();
		expect(reader.ending).toBe('ended');
		const all = [
			...Array.from({ length: 7 }, () => chatChunk({ content: sentence })),
			chatChunk({ content: 'The end' }),
			chatChunk({}, 'stop'),
		];
		expect(reader.text).toBe(`${all.join('')}data: [DONE]\n\n`);
		expect(guarded.evaluated.at(-1)).toMatch(/yesterday\. The end$/);
		expect(await guarded.reported('clean')).toEqual(['req-1 output   NONE clean', 'req-1 input   NONE clean']);
	});

	it('ends before the piece that matches, however it is split', async () => {
		const guarded = new Guarded({}, [moderationProvider]);
		const reader = await guarded.read(await guarded.ask('hello', true));
		for (let count = 0; count < 6; count++) await guarded.say(sentence);
		await guarded.say('Something e');
		await guarded.say('vil lurks');
		await guarded.finish();
		expect(reader.text).toContain('quiet valley');
		expect(reader.text).not.toMatch(/Something|lurks|DONE/);
		expect(reader.text).toMatch(/guardrail_blocked[^]*\n\n$/);
		expect(reader.ending).toBe('ended');
		expect(await guarded.reported()).toEqual(['req-1 output moderation mod.hate BLOCK matched']);
		const { settled, reserved } = await guarded.money();
		expect([settled !== undefined && settled > 0n, reserved]).toEqual([true, 0n]);
	});

	it('hides nothing where two pieces meet', async () => {
		const guarded = new Guarded({}, [moderationProvider]);
		const reader = await guarded.read(await guarded.ask('hello', true));
		guarded.judge = (texts) => ({ status: 200, body: verdict(texts.map((text) => text.replace('very bad', 'evil'))) });
		await guarded.say(`${'word '.repeat(210)}and then very `);
		await guarded.say('bad things came ');
		await guarded.say('to pass');
		await guarded.finish();
		expect(guarded.evaluated.filter((text) => text.includes('and then'))).toHaveLength(2);
		expect(reader.text).toContain('and then very ');
		expect(reader.text).not.toContain('things');
		expect(reader.text).toContain('guardrail_blocked');
	});

	it('has its provider stopped when a piece matches in the middle', async () => {
		const guarded = new Guarded({}, [moderationProvider]);
		const reader = await guarded.read(await guarded.ask('hello', true));
		await guarded.say(`${sentence.repeat(6)}An evil deed. `);
		await guarded.say('And then. ');
		await settle();
		expect(reader.text).toContain('guardrail_blocked');
		expect(reader.text).not.toContain('valley');
		expect(guarded.upstream?.isCancelled).toBe(true);
	});

	it.each([
		['open', 'DONE'],
		['closed', 'guardrail_blocked'],
	] as const)('continues or ends as configured by on_failure: %s', async (onFailure, expected) => {
		const guarded = new Guarded({}, [{ ...moderationProvider, onFailure }]);
		const requested = guarded.ask('hello', true);
		guarded.judge = (texts) => (texts.includes('hello') ? { status: 200, body: verdict(texts) } : { status: 500, body: '{}' });
		const reader = await guarded.read(await requested);
		await guarded.say(sentence);
		await guarded.finish();
		expect(reader.text).toContain(expected);
		const action = onFailure === 'open' ? 'NONE' : 'BLOCK';
		expect(await guarded.reported()).toEqual([`req-1 output moderation mod.failed ${action} failed`]);
	});

	it('passes comments on during an evaluation, without their text, and nothing else; after a disconnect the evaluation ends', async () => {
		const guarded = new Guarded({}, [moderationProvider]);
		const response = await guarded.ask('hello', true);
		guarded.judge = () => new Promise(() => undefined);
		const reader = new Reader();
		const flow = (response.body as ByteStream).start(reader);
		await guarded.say(sentence.repeat(6));
		guarded.upstream?.write(': hidden\n\n');
		guarded.upstream?.write(`: a\n${chatChunk({ content: 'hidden' })}`);
		await settle();
		expect(reader.text).toBe(': keepalive\n\n');
		flow.cancel();
		expect(guarded.upstream?.isCancelled).toBe(true);
		await settle();
		expect(reader.ending).toBe('open');
	});

	it('pauses the provider while the client does not read', async () => {
		const guarded = new Guarded({}, [moderationProvider]);
		const reader = new Reader();
		const flow = ((await guarded.ask('hello', true)).body as ByteStream).start(reader);
		reader.canWrite = false;
		await guarded.say(sentence.repeat(6));
		await guarded.say(sentence.repeat(6));
		expect(reader.text).toContain('valley');
		const { upstream } = guarded;
		expect([upstream?.write(chatChunk({ content: sentence })), upstream?.resumeCount]).toEqual([false, 0]);
		reader.canWrite = true;
		flow.resume();
		expect([upstream?.write(chatChunk({ content: 'The end' })), upstream?.resumeCount]).toEqual([true, 1]);
	});

	describe('is ended by an internal error of a moderation provider, and nothing else is', () => {
		async function breakOff(when: 'half' | 'whole' | 'left') {
			const guarded = new Guarded({}, [moderationProvider]);
			const { log } = guarded.bench;
			const response = await guarded.ask('hello', true);
			const reader = new Reader();
			const flow = (response.body as ByteStream).start(reader);
			log.debug = () => {
				if (when === 'left') flow.cancel();
				throw new TypeError('broken');
			};
			await guarded.say(sentence.repeat(6));
			if (when === 'whole') await guarded.finish();
			else await guarded.say('And more. ');
			await guarded.bench.gateway.settled();
			const { rows } = await guarded.bench.ledger.list({ limit: 9 });
			const errors = log.lines.filter(({ level }) => level === 'error');
			return { reader, response, guarded, errors, closed: rows[0]?.closed };
		}
		const fields = { requestId: 'req-1', team: 'team-1', stage: 'output', cause: new TypeError('broken') };
		const notEvaluated = { event: 'guardrails not evaluated', fields };

		it.each([
			['half', 'broken'],
			['whole', 'complete'],
		] as const)('with %s of the response complete', async (when, outcome) => {
			const { reader, response, guarded, errors, closed } = await breakOff(when);
			expect(reader.text).toMatch(/^data: \{[^\n]*"code":"internal_error"[^\n]*\n\n$/);
			expect([reader.ending, response.record?.code, closed?.outcome]).toEqual(['ended', 'internal_error', outcome]);
			expect(errors[0]).toMatchObject(notEvaluated);
			expect(guarded.upstream?.isCancelled).toBe(when === 'half');
			expect(await guarded.reported('clean'), 'what was not judged is not clean').toEqual(['req-1 input   NONE clean']);
			expect((await guarded.money()).reserved).toBe(0n);
		});

		it('after the client disconnected, which receives nothing', async () => {
			const { reader, response, errors, closed } = await breakOff('left');
			expect([reader.text, reader.ending, response.record?.code, closed?.outcome]).toEqual(['', 'open', 'client_closed', 'client_closed']);
			expect(errors).toMatchObject([notEvaluated]);
		});
	});

	it('sends moderation providers masks instead of masked text', async () => {
		const guarded = new Guarded({}, [moderationProvider]);
		const reader = await guarded.read(await guarded.ask('hello', true));
		await guarded.say('Write to ada@example.org today. ');
		await guarded.finish();
		expect(guarded.evaluated.join('')).toContain('Write to [EMAIL] today.');
		expect(reader.text).toContain('[EMAIL]');
		expect(await guarded.reported()).toEqual(['req-1 output pii email MASK masked']);
	});

	it('pauses the provider when more than a quarter of a megabyte is buffered', async () => {
		const guarded = new Guarded({}, [moderationProvider]);
		const response = await guarded.ask('hello', true);
		guarded.judge = () => new Promise(() => undefined);
		await guarded.read(response);
		await guarded.say('word '.repeat(1000));
		guarded.upstream?.write(chatChunk({ content: 'word. '.repeat(60_000) }));
		expect(guarded.upstream?.write(chatChunk({ content: 'word. ' }))).toBe(false);
	});
});

describe('team rules for moderation providers', () => {
	const evil = 'Something evil this way comes.';
	const rules: readonly (readonly [GuardrailSettings['teams'][string], number, readonly string[]])[] = [
		[{}, 400, ['req-1 input moderation mod.hate BLOCK matched']],
		[{ moderation: 'log' }, 200, ['req-1 output moderation mod.hate NONE matched', 'req-1 input moderation mod.hate NONE matched']],
		[{ moderation: 'none' }, 200, []],
		[{ moderation: 'none', 'moderation.mod': 'block' }, 400, ['req-1 input moderation mod.hate BLOCK matched']],
		[{ moderation: 'mask' }, 400, ['req-1 input moderation mod.hate BLOCK matched']],
		[{ 'moderation.other': 'none' }, 400, ['req-1 input moderation mod.hate BLOCK matched']],
	];

	it.each(rules)('%j: status %d', async (team, status, reported) => {
		const guarded = new Guarded({ teams: { 'team-1': team } }, [moderationWith()], evil);
		expect((await guarded.ask(evil)).status).toBe(status);
		await settle();
		expect(await guarded.reported()).toEqual(reported);
		expect(guarded.evaluated.length > 0).toBe(team['moderation'] !== 'none' || team['moderation.mod'] !== undefined);
	});

	it('a disabled moderation provider is used for the teams that enable it', async () => {
		const off = moderationWith({ action: 'none' });
		const without = new Guarded({ teams: { 'team-2': { moderation: 'block' } } }, [off]);
		expect((await without.ask(evil)).status).toBe(200);
		expect(without.evaluated).toEqual([]);
		const requested = new Guarded({ teams: { 'team-1': { 'moderation.mod': 'block' } } }, [off]);
		expect((await requested.ask(evil)).status).toBe(400);
	});

	it('without enforcement a moderation provider is used unless the rule is none, and blocks nothing', async () => {
		for (const rule of ['block', 'log', 'none'] as const) {
			const guarded = new Guarded({ isEnforced: false, teams: { 'team-1': { moderation: rule } } }, [moderationWith()], evil);
			expect((await guarded.ask(evil)).status).toBe(200);
			for (let turn = 0; turn < 20; turn++) {
				guarded.bench.clock.advance(5);
				await settle();
			}
			expect((await guarded.reported()).length).toBe(rule === 'none' ? 0 : 2);
		}
	});

	it('no request waits for a monitoring moderation provider, and its failure blocks nothing', async () => {
		const noting = new Guarded({ teams: { 'team-1': { moderation: 'log' } } }, [moderationWith({ onFailure: 'closed' })]);
		let response = (_: HttpLike): void => undefined;
		noting.judge = () => new Promise((resolve) => (response = resolve));
		const reader = await noting.read(await noting.ask('hello', true));
		await noting.say('Write to ada@example.org. ');
		await noting.say('Bye, and thanks.');
		expect(reader.text).toContain('[EMAIL]');
		response({ status: 500, body: '{}' });
		await settle();
		await noting.finish();
		expect(reader.text).toContain('DONE');
		response({ status: 200, body: verdict(['evil']) });
		await settle();
		// The complete text once, with its masks.
		expect(noting.evaluated).toEqual(['hello', 'Write to [EMAIL]. Bye, and thanks.']);
		expect((await noting.reported()).toSorted()).toEqual([
			'req-1 input moderation mod.failed NONE failed',
			'req-1 output moderation mod.hate NONE matched',
			'req-1 output pii email MASK masked',
		]);
	});

	it('one that blocks delays a stream alongside one that only monitors', async () => {
		const moderationProviders = [moderationWith(), moderationWith({ name: 'second', action: 'log' })];
		const guarded = new Guarded({}, moderationProviders);
		const reader = await guarded.read(await guarded.ask('hello', true));
		await guarded.say(`${evil} And more. `);
		await guarded.finish();
		expect(reader.text).toContain('guardrail_blocked');
		expect(reader.text).not.toContain('evil');
		expect(await guarded.reported()).toEqual(['req-1 output moderation mod.hate BLOCK matched']);
	});
});
