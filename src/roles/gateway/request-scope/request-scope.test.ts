import { expect, it } from 'vitest';
import { createRecordingLog } from '../../../../test/support/recording-log.ts';
import { Rejection } from '../../../core/rejection.ts';
import { SwapRemoveList } from '../../../core/swap-remove-list.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import { completed, failed, RequestScope, type Resource, type ScopeOutcome, upstreamError } from './request-scope.ts';

const outcomes: readonly ScopeOutcome[] = [
	completed(200),
	upstreamError(502, 'provider_failed'),
	failed(new Rejection('client_closed')),
	failed(new Rejection('draining')),
	failed(new Rejection('guardrail_blocked')),
	failed(new UpstreamError('provider_unreachable')),
	failed(new TypeError('a defect')),
];

class Bench {
	readonly log = createRecordingLog();
	readonly scope = new RequestScope('req-1', this.log);
	/** Calls that resources received, in order. */
	readonly reported: string[] = [];

	/** Creates a resource that records its calls. */
	resource(name: string): Resource {
		return {
			release: ({ kind }) => void this.reported.push(`${name} released: ${kind}`),
			abort: ({ code }) => void this.reported.push(`${name} aborted: ${code}`),
		};
	}

	internalErrors(): number {
		return this.log.lines.filter(({ level, fields }) => level === 'error' && fields.requestId === 'req-1').length;
	}
}

it.each(outcomes)('releases all its resources once, the last acquired first, when the request ends as $kind', (outcome) => {
	const { scope, reported, ...bench } = new Bench();
	const list = new SwapRemoveList<RequestScope>();
	scope.enlist(list);
	for (const name of ['body', 'permit']) scope.attach({ release: ({ kind }) => void reported.push(`${name}: ${kind}`) });
	scope.trackSlot({ release: () => void reported.push('slot') });
	scope.end(outcome);
	scope.end(completed(204));
	scope.abort(new Rejection('draining'));
	expect(reported).toEqual(['slot', `permit: ${outcome.kind}`, `body: ${outcome.kind}`]);
	expect([scope.outcome, scope.recorder.record.code, scope.isAborted, list.size]).toEqual([outcome, outcome.code, false, 0]);
	expect(bench.log.lines).toEqual([]);
});

it('derives the outcome of a request from its cause', () => {
	expect(outcomes.map(({ kind, status, isEarly }) => `${kind} ${status} ${isEarly}`)).toEqual([
		'completed 200 false',
		'upstream_error 502 false',
		'client_disconnected 499 true',
		'draining 503 false',
		'rejected 400 true',
		'provider_failed 502 false',
		'internal_error 500 false',
	]);
});

it('releases the others if one throws, and logs the internal error', () => {
	const bench = new Bench();
	const { scope, reported } = bench;
	const list = new SwapRemoveList<RequestScope>();
	scope.enlist(list);
	scope.attach(bench.resource('first'));
	scope.attach({
		release: () => {
			throw new Error('no');
		},
	});
	scope.attach(bench.resource('last'));
	scope.trackSlot({
		release: () => {
			throw new Error('no slot');
		},
	});
	scope.end(completed(200));
	expect([reported, bench.internalErrors(), list.size]).toEqual([['last released: completed', 'first released: completed'], 2, 0]);
});

it('aborts all resources once, even if one throws; the end comes later', () => {
	const bench = new Bench();
	const { scope, reported } = bench;
	scope.attach(bench.resource('first'));
	scope.attach({
		abort: () => {
			throw new Error('no');
		},
		release: () => undefined,
	});
	scope.attach(bench.resource('last'));
	scope.trackSlot({ release: () => void reported.push('slot') });
	scope.abort(new Rejection('client_closed'));
	scope.abort(new Rejection('draining'));
	expect(reported).toEqual(['first aborted: client_closed', 'last aborted: client_closed', 'slot']);
	expect([scope.outcome, bench.internalErrors()]).toEqual([undefined, 1]);
	expect(() => scope.requireRunning()).toThrow(Rejection);
	scope.end(failed(new Rejection('client_closed')));
	expect(reported.slice(3)).toEqual(['last released: client_disconnected', 'first released: client_disconnected']);
});

it('ends in the middle of an abort, if an aborted resource ends the request', () => {
	const bench = new Bench();
	const { scope, reported } = bench;
	scope.attach({ abort: (reason) => scope.end(failed(reason)), release: () => void reported.push('stream') });
	scope.trackSlot({ release: () => void reported.push('slot') });
	scope.abort(new Rejection('draining'));
	expect([reported, scope.outcome?.kind, bench.internalErrors()]).toEqual([['slot', 'stream'], 'draining', 0]);
});

it('does not abort a resource that the abort has already released', () => {
	const bench = new Bench();
	const { scope, reported } = bench;
	scope.attach({ abort: (reason) => scope.end(failed(reason)), release: () => undefined });
	scope.attach(bench.resource('later'));
	scope.abort(new Rejection('draining'));
	expect(reported).toEqual(['later released: draining']);
});

it('releases immediately what is acquired after the end, and throws', () => {
	const bench = new Bench();
	const { scope, reported } = bench;
	scope.end(failed(new UpstreamError('provider_unreachable')));
	expect(() => scope.attach(bench.resource('permit'))).toThrow('the request has ended');
	scope.trackSlot({ release: () => void reported.push('slot') });
	expect(reported).toEqual(['permit released: provider_failed', 'slot']);
});

it('aborts what is acquired after an abort in a later turn, and gives it no slot', async () => {
	const bench = new Bench();
	const { scope, reported } = bench;
	scope.abort(new Rejection('draining'));
	scope.attach(bench.resource('stream'));
	const dropped = bench.resource('dropped');
	scope.attach(dropped);
	scope.drop(dropped);
	scope.trackSlot({ release: () => void reported.push('slot') });
	expect(reported).toEqual(['slot']);
	await Promise.resolve();
	expect(reported).toEqual(['slot', 'stream aborted: draining']);
});

it('forgets dropped resources', () => {
	const bench = new Bench();
	const { scope, reported } = bench;
	const [retained, dropped] = [bench.resource('kept'), bench.resource('dropped')];
	scope.attach(dropped);
	scope.attach(retained);
	scope.drop(dropped);
	scope.drop(dropped);
	scope.abort(new Rejection('draining'));
	scope.end(completed(200));
	expect(reported).toEqual(['kept aborted: draining', 'kept released: completed']);
});

it('releases its slot between attempts', () => {
	const { scope, reported } = new Bench();
	for (const name of ['one', 'two']) {
		scope.trackSlot({ release: () => void reported.push(name) });
		scope.releaseSlot();
		scope.releaseSlot();
	}
	scope.end(completed(200));
	expect(reported).toEqual(['one', 'two']);
});

it.each([
	['an abort', (scope: RequestScope) => scope.abort(new Rejection('draining')), 'draining'],
	['the end', (scope: RequestScope) => scope.end(completed(200)), undefined],
])('cancels a wait by %s, and has it reject', async (_name, end, code) => {
	const { scope } = new Bench();
	let cancels = 0;
	const waiting = scope.wait(() => () => void cancels++);
	end(scope);
	const cause: unknown = await waiting.catch((reason: unknown) => reason);
	expect(cause).toBeInstanceOf(Error);
	expect([cancels, cause instanceof Rejection ? cause.code : undefined]).toEqual([1, code]);
});

it.each([
	['the abort', (scope: RequestScope) => scope.abort(new Rejection('draining', { message: 'shutting down' })), 'shutting down'],
	['the end', (scope: RequestScope) => scope.end(completed(200)), 'the request ended while it waited'],
])('cancels a wait that begins after %s', async (_name, end, message) => {
	const { scope } = new Bench();
	let cancels = 0;
	end(scope);
	await expect(scope.wait(() => () => void cancels++)).rejects.toThrow(message);
	expect(cancels).toBe(1);
});

it('owns a wait no longer than it lasts, however it ends', async () => {
	const { scope, ...bench } = new Bench();
	let cancels = 0;
	const cancel = (): void => void cancels++;
	const now = scope.wait<number>((resolve) => {
		resolve(1);
		return cancel;
	});
	const later = scope.wait<number>((resolve) => {
		queueMicrotask(() => resolve(2));
		return cancel;
	});
	const never = scope.wait<number>((_resolve, reject) => {
		queueMicrotask(() => reject(new Error('no')));
		return cancel;
	});
	expect([await now, await later, await never.catch(() => 'no')]).toEqual([1, 2, 'no']);
	scope.abort(new Rejection('draining'));
	scope.end(completed(200));
	expect([cancels, bench.log.lines]).toEqual([0, []]);
});

it('closes the record at the end except for the code that the response reports', () => {
	const { recorder } = new Bench().scope;
	recorder.identifyClient('client-1');
	recorder.end(undefined);
	recorder.identifyClient('client-2');
	recorder.readBody(7, true);
	recorder.beginResponse(200, 5);
	recorder.charge(
		{ inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, cacheWriteHourTokens: 0, reasoningTokens: 0 },
		1n,
		true,
	);
	expect(recorder.record).toMatchObject({ clientId: 'client-1', requestBytes: undefined, costNanoUsd: undefined, code: undefined });
	recorder.report('guardrail_blocked');
	expect(recorder.record.code).toBe('guardrail_blocked');
});
