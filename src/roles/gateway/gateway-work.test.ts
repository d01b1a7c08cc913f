import { expect, test } from 'vitest';
import { createRememberedLog } from '../../../test/support/recording-log.ts';
import { Rejection } from '../../core/rejection.ts';
import { OpenCalls } from './gateway-work.ts';
import { CallScope, completed } from './request-scope/request-scope.ts';

function open(calls: OpenCalls, isStreamed?: boolean): { readonly scope: CallScope; readonly aborts: string[] } {
	const scope = new CallScope('req-1', createRememberedLog());
	scope.recorder.readBody(0, isStreamed);
	calls.add(scope, { onClientGone: () => undefined });
	const aborts: string[] = [];
	scope.hold({ abort: ({ code }) => aborts.push(code), release: () => undefined });
	return { scope, aborts };
}

test('requests are counted while they are open, streams separately', () => {
	const calls = new OpenCalls();
	const opened = [true, false, undefined, true].map((isStreamed) => open(calls, isStreamed));
	expect([calls.count, calls.streamCount]).toEqual([4, 2]);
	opened[0]?.scope.end(completed(200));
	opened[0]?.scope.end(completed(200));
	opened[2]?.scope.end(completed(200));
	expect([calls.count, calls.streamCount]).toEqual([2, 1]);
});

test('all open requests are aborted, once; ended ones are not', () => {
	const calls = new OpenCalls();
	const [over, ...others] = [open(calls), open(calls), open(calls)];
	over.scope.end(completed(200));
	calls.endAll();
	calls.endAll();
	over.scope.abort(new Rejection('client_closed'));
	expect([over.aborts, over.scope.isAborted]).toEqual([[], false]);
	expect(others.map(({ aborts }) => aborts)).toEqual([['draining'], ['draining']]);
	for (const { scope } of others) scope.end(completed(200));
	expect(calls.count).toBe(0);
});
