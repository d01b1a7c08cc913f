import type { ErrorCode } from 'yaml';

/**
 * Says what is wrong with the syntax in our own words: the parser's may quote the text, and an unquoted password that
 * begins with `*`, `!` or `&` is such a text.
 */
export function yamlMessage(code: ErrorCode): string {
	return `is not valid YAML: ${messages[code]}`;
}

const messages: Readonly<Record<ErrorCode, string>> = {
	ALIAS_PROPS: 'an alias (`*name`) takes no anchor or tag',
	BAD_ALIAS: 'an alias or anchor has no valid name; quote a text that begins with `*` or `&`',
	BAD_COLLECTION_TYPE: 'a tag does not fit its value',
	BAD_DIRECTIVE: 'a directive (`%...`) is not known; quote a text that begins with `%`',
	BAD_DQ_ESCAPE: 'a backslash in double quotes starts no known escape; use single quotes',
	BAD_INDENT: 'the indentation does not fit, or a bracket is not closed',
	BAD_PROP_ORDER: 'an anchor or tag stands in the wrong place',
	BAD_SCALAR_START: 'a text begins with a reserved character; quote it',
	BLOCK_AS_IMPLICIT_KEY: 'a second `key: value` on one line; quote a text that contains `: `',
	BLOCK_IN_FLOW: 'indented lists and mappings cannot stand inside brackets',
	DUPLICATE_KEY: 'a key is given twice',
	IMPOSSIBLE: 'it cannot be read here',
	KEY_OVER_1024_CHARS: 'a key is longer than 1,024 characters',
	MISSING_CHAR: 'a quote, bracket, comma or colon is missing',
	MULTILINE_IMPLICIT_KEY: 'a key goes over more than one line; a `:` may be missing',
	MULTIPLE_ANCHORS: 'a value has more than one anchor',
	MULTIPLE_DOCS: 'the file holds more than one document (`---`)',
	MULTIPLE_TAGS: 'a value has more than one tag',
	NON_STRING_KEY: 'a key is not a plain name',
	RESOURCE_EXHAUSTION: 'it is nested too deeply or too large',
	TAB_AS_INDENT: 'a tab is used for indentation; use blanks',
	TAG_RESOLVE_FAILED: 'a tag (`!name`) is not known; quote a text that begins with `!`',
	UNEXPECTED_TOKEN: 'something unexpected stands here; quote a text that contains `{`, `}`, `[`, `]` or `,` inside brackets',
};
