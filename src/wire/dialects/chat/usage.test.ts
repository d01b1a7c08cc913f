import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseBody } from '../../json/parse-body.ts';
import { spliceBody } from '../../json/splice-body.ts';
import { requestUsage } from './request-edits.ts';

const placed = new Set(['model', 'stream_options']);

/** Returns the request as the provider receives it. */
function requested(json: string): string {
	const body = parseBody(Buffer.from(json), placed);
	return spliceBody(body.bytes, requestUsage(body)).toString();
}

describe('a stream is made to report usage', () => {
	it.each([
		['without options', '{"stream":true}', '{"stream":true,"stream_options":{"include_usage":true}}'],
		['without options, in loose JSON', ' { "stream" : true\n}\n', ' { "stream" : true\n,"stream_options":{"include_usage":true}}\n'],
		['with null options', '{"stream_options":null,"stream":true}', '{"stream_options":{"include_usage":true},"stream":true}'],
		['with empty options', '{"stream_options":{ },"stream":true}', '{"stream_options":{"include_usage":true },"stream":true}'],
		[
			'with other options',
			'{"stream_options": {"include_obfuscation" : false}, "stream":true}',
			'{"stream_options": {"include_usage":true,"include_obfuscation" : false}, "stream":true}',
		],
		[
			'that asked not to',
			'{"stream":true,"stream_options":{"x":1.0,"include_usage": false }}',
			'{"stream":true,"stream_options":{"x":1.0,"include_usage": true }}',
		],
		[
			'that asked null',
			'{"stream":true,"stream_options":{"include_usage":null}}',
			'{"stream":true,"stream_options":{"include_usage":true}}',
		],
		[
			'that says both',
			'{"stream":true,"stream_options":{"include_usage":true,"include_usage":false}}',
			'{"stream":true,"stream_options":{"include_usage":true}}',
		],
		[
			'with escapes',
			'{"stream":true,"stream_options":{"include\\u005fusage":false}}',
			'{"stream":true,"stream_options":{"include\\u005fusage":true}}',
		],
		['with braces in texts', '{"stream":true,"x":"}{"}', '{"stream":true,"x":"}{","stream_options":{"include_usage":true}}'],
	])('%s', (_name, json, expected) => {
		expect(requested(json)).toBe(expected);
	});
});

describe('a request stays unchanged', () => {
	it.each([
		['that asks', '{"stream":true,"stream_options":{"include_usage":true}}'],
		['that is no stream', '{"stream":false}'],
		['that does not say', '{"model":"m"}'],
		['that is no stream and has options', '{"stream_options":{"include_usage":false}}'],
		['whose options the provider will refuse', '{"stream":true,"stream_options":{"include_usage":"yes"}}'],
		['whose options are no object', '{"stream":true,"stream_options":[]}'],
	])('%s', (_name, json) => {
		expect(requested(json)).toBe(json);
	});
});

it('all options keep their meaning and gain usage', () => {
	const options = fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: null });
	const include = fc.constantFrom({}, { include_usage: false }, { include_usage: null }, { include_usage: true });
	fc.assert(
		fc.property(options, include, fc.constantFrom(undefined, 1, '\t'), (more, requests, space) => {
			const given = more === null ? null : { ...more, ...requests };
			const request = { stream: true, stream_options: given, model: 'm' };
			const expected = { ...request, stream_options: { ...given, include_usage: true } };
			expect(JSON.parse(requested(JSON.stringify(request, null, space)))).toEqual(JSON.parse(JSON.stringify(expected)));
		}),
	);
});
