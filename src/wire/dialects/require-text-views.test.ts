import { expect, expectTypeOf, it } from 'vitest';
import { requireTextViews } from '../endpoints/endpoint.ts';
import { endpoints } from '../endpoints/endpoints.ts';
import { chat } from './chat/chat.ts';
import type { ClientDialect } from './dialect.ts';

it('every endpoint shows its texts', () => {
	for (const endpoint of endpoints) {
		expect(() => {
			requireTextViews(endpoint);
		}).not.toThrow();
	}
});

it('a dialect that views no text is rejected, and one without a view is not a dialect', () => {
	const nothing = { texts: [], unreadable: [], ended: [] };
	const textViews = { eventNames: [], request: () => nothing, response: () => nothing, event: () => nothing };
	expect(() => {
		requireTextViews({ path: '/v1/blind', dialect: { ...chat, textViews } });
	}).toThrow('dialect `chat` at /v1/blind has no text view for guardrails');
	expectTypeOf<Omit<ClientDialect, 'textViews'>>().not.toExtend<ClientDialect>();
	expectTypeOf<Omit<ClientDialect['textViews'], 'event'>>().not.toExtend<ClientDialect['textViews']>();
});
