import { expect, test } from 'vitest';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { Rejection } from '../../core/rejection.ts';
import { InFlightRequests } from './gateway-work.ts';
import { completed, RequestScope } from './request-scope/request-scope.ts';

function open(requests: InFlightRequests, isStreaming?: boolean): { readonly scope: RequestScope; readonly aborts: string[] } {
	const scope = new RequestScope('req-1', createRecordingLog());
	scope.recorder.readBody(0, isStreaming);
	requests.add(scope, { onClientDisconnect: () => undefined });
	const aborts: string[] = [];
	scope.attach({ abort: ({ code }) => aborts.push(code), release: () => undefined });
	return { scope, aborts };
}

test('requests are counted while they are open, streams separately', () => {
	const requests = new InFlightRequests();
	const opened = [true, false, undefined, true].map((isStreaming) => open(requests, isStreaming));
	expect([requests.count, requests.streamCount]).toEqual([4, 2]);
	opened[0]?.scope.end(completed(200));
	opened[0]?.scope.end(completed(200));
	opened[2]?.scope.end(completed(200));
	expect([requests.count, requests.streamCount]).toEqual([2, 1]);
});

test('all open requests are aborted, once; ended ones are not', () => {
	const requests = new InFlightRequests();
	const [over, ...others] = [open(requests), open(requests), open(requests)];
	over.scope.end(completed(200));
	requests.endAll();
	requests.endAll();
	over.scope.abort(new Rejection('client_closed'));
	expect([over.aborts, over.scope.isAborted]).toEqual([[], false]);
	expect(others.map(({ aborts }) => aborts)).toEqual([['draining'], ['draining']]);
	for (const { scope } of others) scope.end(completed(200));
	expect(requests.count).toBe(0);
});
