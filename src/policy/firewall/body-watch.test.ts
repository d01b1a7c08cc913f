import { expect, test } from 'vitest';
import type { ByteSink, ByteStream } from '../../core/handler.ts';
import { watchBeginning } from './body-watch.ts';

/** Reuses one buffer for all chunks, as sockets do. */
function lending(texts: readonly string[]): ByteStream {
	const memory = Buffer.alloc(100);
	return {
		start(sink) {
			for (const text of texts) sink.write(memory.subarray(0, memory.write(text)));
			memory.fill(0);
			sink.end();
			return { resume: () => undefined, cancel: () => undefined };
		},
	};
}

function start(texts: readonly string[], bytes: number, copiesChunks: boolean): { seen: unknown[]; passed: string; copies: unknown } {
	const seen: unknown[] = [];
	let passed = '';
	let copies: unknown;
	const sink: ByteSink = {
		copiesChunks,
		write(chunk) {
			passed += chunk.toString();
			return true;
		},
		end: () => undefined,
		fail: () => undefined,
	};
	const source = lending(texts);
	const body: ByteStream = {
		start(wrapped) {
			copies = wrapped.copiesChunks;
			return source.start(wrapped);
		},
	};
	watchBeginning(body, bytes, (beginning, isLonger) => seen.push([beginning.toString(), isLonger])).start(sink);
	return { seen, passed, copies };
}

test.each([
	[['abc', 'def', 'ghi'], 5, ['abcde', true]],
	[['abc', 'def'], 6, ['abcdef', false]],
	[['abc', 'd'], 100, ['abcd', false]],
	[['a', 'b', 'c'], 2, ['ab', true]],
])('of %j the first %i bytes are seen once, though the memory of the chunks is reused', (texts, bytes, expected) => {
	for (const copiesChunks of [true, false]) {
		expect(start(texts, bytes, copiesChunks)).toEqual({ seen: [expected], passed: texts.join(''), copies: copiesChunks });
	}
});
