import { isJsonObject, type JsonBody } from '../../json/parse-body.ts';
import { scanMembers } from '../../json/scan-members.ts';
import type { Edit } from '../../json/splice-body.ts';

const option: ReadonlySet<string> = new Set(['include_usage']);
const nothing: readonly Edit[] = [];
const closeBrace = 0x7d;
const openBrace = 0x7b;

/**
 * What to change in a request so that its stream tells of usage. Nothing when it is no stream, asks already, or has
 * options that the provider will refuse anyway; then the stream must reach the caller with its usage.
 * @param body with the place of `stream_options` known.
 */
export function askForUsage({ bytes, members, ranges }: JsonBody): readonly Edit[] {
	if (members.stream !== true) return nothing;
	const options = members.stream_options;
	const range = ranges.get('stream_options');
	if (range === undefined) {
		// The last brace is the body's own, and it has members: `stream` at least.
		const end = bytes.lastIndexOf(closeBrace);
		return options === undefined ? [{ start: end, end, text: ',"stream_options":{"include_usage":true}' }] : [];
	}
	if (options === null) return [{ ...range, text: '{"include_usage":true}' }];
	if (!isJsonObject(options)) return [];
	const asked = options.include_usage;
	if (asked === undefined) {
		const start = bytes.indexOf(openBrace, range.start) + 1;
		return [{ start, end: start, text: `"include_usage":true${Object.keys(options).length === 0 ? '' : ','}` }];
	}
	if (asked !== false && asked !== null) return [];
	const found = scanMembers(bytes.subarray(range.start, range.end), option);
	const value = found.ranges.get('include_usage');
	if (value === undefined || found.repeated !== undefined) return [{ ...range, text: JSON.stringify({ ...options, include_usage: true }) }];
	return [{ start: range.start + value.start, end: range.start + value.end, text: 'true' }];
}
