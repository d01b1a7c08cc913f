import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSameRequestId, packRequestId, readRequestId, requestIdOf } from './packed-request-id.ts';

const own = 'req_00112233445566778899aabbccddeeff';

test('an id that the gateway made is its bytes', () => {
	expect(packRequestId(own)).toEqual(Buffer.from('00112233445566778899aabbccddeeff', 'hex'));
});

test.each([own.toUpperCase(), own.replace('ff', 'fF'), `${own}0`, own.slice(0, -1), own.replace('0', 'g'), own.replace('0', '\u0130'), ''])(
	'any other stays text: %s',
	(id) => {
		expect(packRequestId(id)).toBe(id);
	},
);

test('any id is read as it was, and is the same as none but itself', () => {
	const anyId = fc.oneof(fc.string(), fc.stringMatching(/^req_[0-9a-f]{32}$/), fc.stringMatching(/^req_0{30}[0-3]{2}$/));
	fc.assert(
		fc.property(anyId, anyId, (id, other) => {
			expect(readRequestId(packRequestId(id))).toBe(id);
			expect(isSameRequestId(requestIdOf(id), requestIdOf(id))).toBe(true);
			expect(isSameRequestId(requestIdOf(id), requestIdOf(other))).toBe(id === other);
		}),
	);
});

test('ids that differ in one digit are not the same', () => {
	for (let place = 4; place < own.length; place++) {
		const other = `${own.slice(0, place)}${own[place] === '7' ? '8' : '7'}${own.slice(place + 1)}`;
		expect(isSameRequestId(requestIdOf(own), requestIdOf(other))).toBe(false);
	}
});
