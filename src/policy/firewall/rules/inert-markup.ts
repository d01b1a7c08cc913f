/** Tells markup that cannot run, load or send anything from markup that can: pages of documentation are searched for both. */
import type { TextTest } from './signature.ts';

/** Elements that do nothing without an attribute. What follows `plaintext` or `frameset` becomes something else, so they are not here. */
const inertElements =
	'h[1-6]|p|div|span|a|ul|ol|li|dl|dt|dd|t[rhd]|thead|tbody|b|i|u|em|strong|small|code|pre|section|article|header|footer|nav|main|aside|figure|label|hr|br|html|head|body|title|meta|link|style|svg|math|img|image|form|input|button|textarea|select|option|table|template|slot|canvas|map|area|menu|picture|video|audio|source|track|param|iframe|object|dialog|details|noscript|set|use|animate';

/** Attributes that neither run anything nor lead to another host; `src` and the like lead to the same one. */
const word = '(?:"[\\w .,/%#+?&=;@*()|-]{0,80}"|[\\w.%#-]{1,40})';
const inertAttributes = [
	// Attributes of components, which no browser knows.
	`(?!on|src|href|action|form|data\\b|style|xlink|xmlns|http-equiv|code|background|poster|dynsrc|lowsrc|ping|manifest|classid|archive|profile|cite|from\\b|to\\b|values\\b|attributename|begin|end\\b|is\\b|usemap|longdesc|target|folder|autofocus|accesskey|contenteditable|popover)[a-z][a-z-]{1,30} ?= ?(?:"[\\w .-]{0,60}"|\\{[\\w.]{1,40}\\})`,
	`(?:class|id|name|type|alt|title|width|height|lang|dir|role|rel|for|value|placeholder|rows|cols|colspan|rowspan|scope|tabindex|min|max|step|maxlength|minlength|size|pattern|method|enctype|autocomplete|content|charset|property|media|sizes|loading|decoding|preload|viewbox|fill|stroke|d|x|y|r|cx|cy|points|sandbox|allow|label|accept|list|span|align|border|aria-[a-z]{2,20}|data-[a-z-]{2,30}) ?= ?${word}`,
	'(?:required|disabled|checked|selected|readonly|multiple|controls|loop|muted|open|hidden|async|defer|novalidate|allowfullscreen)(?:=""|="true")?',
	'(?:src|href|action|poster|srcset) ?= ?"(?!//)[\\w ./#?&=%-]{1,80}"',
	'style ?= ?"[\\w :;#%.,-]{0,120}"',
	'xmlns(?::\\w{1,20})? ?= ?"https?://[\\w./#-]{1,100}"',
	// Bindings of templates, to a name.
	'(?:\\[\\(?[\\w.]{1,30}\\)?\\]|\\([\\w.]{1,30}\\)|\\*[a-z]{2,20}|v-[a-z:-]{1,30}|[:@#][a-z.-]{1,30}) ?= ?"[\\w .]{0,60}"',
].join('|');

/** Attributes are read once: a look ahead gives nothing back, so that time stays linear. */
const inertTag = new RegExp(`</?(?:${inertElements})(?=((?: (?:${inertAttributes})){0,12}))\\1 ?/?>`, 'g');

/** A tag in a sentence about it: words alone do nothing, even where they are read as a script. */
const mentionedScript =
	/<script(?: (?:async|defer|nomodule|type="[\w/]{1,30}")){0,3}>(?=(?: [\w,.?!-]{1,24}){1,12}(?:\n|$| <\/?script))|(?<=[a-z] )<script(?: (?:async|defer|nomodule|type="[\w/]{1,30}")){0,3}>(?=\n|$)|<\/?(?:script|iframe|svg|object|embed|style)>(?= ?(?:tag|element|attribute)s?(?:$|[\n ]))/g;

/** A prolog of XML, and types of other languages between brackets. */
const prologOrType =
	/<\?xml version="1\.[01]"(?: encoding="[\w-]{1,20}")?(?: standalone="\w{2,3}")? ?\?>|(?<=[a-z])<(?:map|set|option|object|select|source|input|image|table|param|form|button)(?=[<,>])/g;

/** A handler of a component, by its name: pages take the braces for a block that holds a name. */
const componentHandler = / on[a-z]{3,30}=\{[\w.]{1,60}\}/g;

/** How a page is read and what else is loaded for it: what these say counts for all of it. */
const changesPage =
	/^<(?:meta(?=[^>]* (?:charset ?=(?! ?"?utf-8\b)|name ?= ?"?referrer\b))|link(?=[^>]* rel ?= ?"?(?:import|manifest|serviceworker|prerender|prefetch|modulepreload)))/;

function withoutInert(text: string): string {
	return text
		.replace(componentHandler, ' ')
		.replace(prologOrType, ' ')
		.replace(inertTag, (tag) => (changesPage.test(tag) ? tag : ' '))
		.replace(mentionedScript, ' ');
}

/** The pattern as far as it matches more than inert markup. */
export function active(pattern: RegExp): TextTest {
	return { source: pattern.source, anySign: '<=', test: (text) => pattern.test(text) && pattern.test(withoutInert(text)) };
}

/** The same, without the spaces that browsers skip. */
export function activePacked(pattern: RegExp): TextTest {
	const test = (text: string): boolean => pattern.test(text.replaceAll(' ', ''));
	return { source: pattern.source, anySign: '<', test: (text) => text.includes('<') && test(text) && test(withoutInert(text)) };
}
