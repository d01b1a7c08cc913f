import { expect, it } from 'vitest';
import { recordedRequest } from '../../../test/support/recorded-request.ts';
import { plainRouting } from '../../core/request-record.ts';
import { BlockBuilder } from './block-builder.ts';
import { RequestBlock } from './request-block.ts';

const added = {
	numbers: ['cacheWriteHourTokens', 'reasoningTokens', 'writtenTokens', 'boundTokens', 'capTokens', 'session'],
	texts: ['providerHeader'],
	indexes: ['providerHeader'],
	rare: ['size', 'toolCalls'],
};

it('reads blocks of the first version, without what a replay needs', () => {
	const request = recordedRequest(1_800_000_000_000, 1);
	const builder = new BlockBuilder();
	builder.add(request);
	const columns = JSON.parse(builder.build().text) as Record<string, Record<string, unknown>>;
	for (const [part, names] of Object.entries(added)) for (const name of names) delete columns[part]?.[name];
	const block = new RequestBlock(JSON.stringify({ ...columns, version: 1 }));
	expect(block.requestAt(0)).toEqual({
		...request,
		usage: { ...request.usage, cacheWriteHourTokens: 0, reasoningTokens: 0 },
		size: null,
		routing: plainRouting,
	});
	expect(() => new RequestBlock(JSON.stringify({ ...columns, version: 2 }))).toThrow(TypeError);
	expect(() => new RequestBlock(JSON.stringify({ ...columns, version: 3 }))).toThrow('Expected a block of version 1 or 2');
});
