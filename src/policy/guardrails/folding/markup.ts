/** HTML inside words: tags that change nothing between the letters around them, and comments. */

/** Longer tags and comments are text. */
const longestTag = 256;
/** Tags that stand between words: a browser begins a new line or a cell with them. */
const separating =
	'address|article|aside|blockquote|br|caption|center|dd|details|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|h[1-6]|head|' +
	'header|hr|html|iframe|input|legend|li|main|menu|nav|object|ol|optgroup|option|p|pre|section|select|summary|table|tbody|td|textarea|' +
	'tfoot|th|thead|title|tr|ul|video|img|button|script|style|body';
const joining = new RegExp(
	`<!--[^]{0,${longestTag}}?-->|<(?!\\/?(?:${separating})[\\s/>])\\/?[a-z][^<>]{0,${longestTag}}>|<[!?][^<>-][^<>]{0,${longestTag}}>`,
	'gi',
);
const unfinished = new RegExp(`<(?:!--[^]{0,${longestTag}}|[/!?]?(?:[a-z][^<>]{0,${longestTag}})?|!-)$`, 'i');
const begun = /<[a-z/!?]/i;

/** A part of a text, from `start` to `end`. */
export interface Range {
	readonly start: number;
	readonly end: number;
}

/** @returns where tags and comments stand that a reader does not see. */
export function unseenMarkup(text: string): readonly Range[] {
	if (!begun.test(text)) return [];
	const ranges: Range[] = [];
	for (const { 0: tag, index } of text.matchAll(joining)) ranges.push({ start: index, end: index + tag.length });
	return ranges;
}

/** @returns where a tag or comment begins that the text ends in the middle of; its length where there is none. */
export function unfinishedMarkup(text: string): number {
	const from = Math.max(0, text.length - longestTag - '<!--'.length);
	const begin = text.indexOf('<', from);
	if (begin === -1) return text.length;
	const found = unfinished.exec(text.slice(begin));
	return found === null ? text.length : begin + found.index;
}
