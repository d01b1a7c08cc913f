import { expect, test } from 'vitest';
import type { HttpRequest } from '../../core/handler.ts';
import { Refusal } from '../../core/refusal.ts';
import { BodySpace } from '../../policy/overload/body-space.ts';
import { GatewayFacts } from './gateway-facts.ts';
import { type OpenCall, OpenCalls } from './open-calls.ts';

function open(calls: OpenCalls, isStreamed?: boolean): { readonly call: OpenCall; readonly ends: string[] } {
	const facts = new GatewayFacts();
	if (isStreamed !== undefined) facts.isStreamed = isStreamed;
	const request = { onClientGone: () => undefined } as unknown as HttpRequest;
	const call = calls.open(request, facts, new BodySpace().hold('team', 1000));
	const ends: string[] = [];
	call.whenEnded(({ code }) => ends.push(code));
	return { call, ends };
}

test('calls are counted while they are open, streams by themselves', () => {
	const calls = new OpenCalls();
	const opened = [true, false, undefined, true].map((isStreamed) => open(calls, isStreamed));
	expect([calls.count, calls.streamCount]).toEqual([4, 2]);
	opened[0]?.call.close();
	opened[0]?.call.close();
	opened[2]?.call.close();
	expect([calls.count, calls.streamCount]).toEqual([2, 1]);
});

test('all that are open are ended, once; what is over is not', () => {
	const calls = new OpenCalls();
	const [over, ...others] = [open(calls), open(calls), open(calls)];
	over.call.close();
	calls.endAll();
	calls.endAll();
	over.call.end(new Refusal('client_closed'));
	expect(over.ends).toEqual([]);
	expect(over.call.isEnded).toBe(false);
	expect(others.map(({ ends }) => ends)).toEqual([['draining'], ['draining']]);
	for (const { call } of others) call.close();
	expect(calls.count).toBe(0);
});
