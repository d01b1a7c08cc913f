import { expect, expectTypeOf, it } from 'vitest';
import { tokenCounting } from '../dialects/messages/token-counting.ts';
import type { Format } from './format.ts';
import { formats } from './formats.ts';
import { requireTextViews } from './require-text-views.ts';

it('every format shows its texts', () => {
	for (const format of [...formats, tokenCounting]) {
		expect(() => {
			requireTextViews(format);
		}).not.toThrow();
	}
});

it('a format that shows nothing is refused, and one without a view is no format', () => {
	const nothing = { texts: [], unreadable: [], ended: [] };
	const blind = {
		name: 'chat',
		path: '/v1/blind',
		textViews: { request: () => nothing, answer: () => nothing, event: () => nothing },
	} as const;
	expect(() => {
		requireTextViews(blind);
	}).toThrow('format `chat` at /v1/blind does not show guardrails the texts of its requests');
	expectTypeOf<Omit<Format, 'textViews'>>().not.toExtend<Format>();
	expectTypeOf<Omit<Format['textViews'], 'event'>>().not.toExtend<Format['textViews']>();
});
