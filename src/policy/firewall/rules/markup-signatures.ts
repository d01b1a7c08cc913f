/** `CrossSiteScripting`: active markup, and the scripts inside it. */
import { anyOf, packed, plain, type Signature, type TextTest, uncommented } from './signature.ts';

/**
 * Elements that are harmless without an attribute. `plaintext` and `frameset` are not among them, because they change the meaning of the
 * text after them.
 */
const inertElements =
	'h[1-6]|p|div|span|a|ul|ol|li|dl|dt|dd|t[rhd]|thead|tbody|b|i|u|em|strong|small|code|pre|section|article|header|footer|nav|main|aside|figure|label|hr|br|html|head|body|title|meta|link|style|svg|math|img|image|form|input|button|textarea|select|option|table|template|slot|canvas|map|area|menu|picture|video|audio|source|track|param|iframe|object|dialog|details|noscript|set|use|animate';

/** Attributes that neither run anything nor link to another host; `src` and the like link to the same one. */
const word = '(?:"[\\w .,/%#+?&=;@*()|-]{0,80}"|[\\w.%#-]{1,40})';
const inertAttributes = [
	// Attributes of components, which browsers ignore.
	`(?!on|src|href|action|form|data\\b|style|xlink|xmlns|http-equiv|code|background|poster|dynsrc|lowsrc|ping|manifest|classid|archive|profile|cite|from\\b|to\\b|values\\b|attributename|begin|end\\b|is\\b|usemap|longdesc|target|folder|autofocus|accesskey|contenteditable|popover)[a-z][a-z-]{1,30} ?= ?(?:"[\\w .-]{0,60}"|\\{[\\w.]{1,40}\\})`,
	`(?:class|id|name|type|alt|title|width|height|lang|dir|role|rel|for|value|placeholder|rows|cols|colspan|rowspan|scope|tabindex|min|max|step|maxlength|minlength|size|pattern|method|enctype|autocomplete|content|charset|property|media|sizes|loading|decoding|preload|viewbox|fill|stroke|d|x|y|r|cx|cy|points|sandbox|allow|label|accept|list|span|align|border|aria-[a-z]{2,20}|data-[a-z-]{2,30}) ?= ?${word}`,
	'(?:required|disabled|checked|selected|readonly|multiple|controls|loop|muted|open|hidden|async|defer|novalidate|allowfullscreen)(?:=""|="true")?',
	'(?:src|href|action|poster|srcset) ?= ?"(?!//)[\\w ./#?&=%-]{1,80}"',
	'style ?= ?"[\\w :;#%.,-]{0,120}"',
	'xmlns(?::\\w{1,20})? ?= ?"https?://[\\w./#-]{1,100}"',
	// Bindings of templates to a name.
	'(?:\\[\\(?[\\w.]{1,30}\\)?\\]|\\([\\w.]{1,30}\\)|\\*[a-z]{2,20}|v-[a-z:-]{1,30}|[:@#][a-z.-]{1,30}) ?= ?"[\\w .]{0,60}"',
].join('|');

/** Attributes are read once: a look-ahead does not backtrack, so the time stays linear. */
const inertTag = new RegExp(`</?(?:${inertElements})(?=((?: (?:${inertAttributes})){0,12}))\\1 ?/?>`, 'g');

/** Tag mentioned in a sentence: words alone are harmless, even when they are read as a script. */
const mentionedScript =
	/<script(?: (?:async|defer|nomodule|type="[\w/]{1,30}")){0,3}>(?=(?: [\w,.?!-]{1,24}){1,12}(?:\n|$| <\/?script))|(?<=[a-z] )<script(?: (?:async|defer|nomodule|type="[\w/]{1,30}")){0,3}>(?=\n|$)|<\/?(?:script|iframe|svg|object|embed|style)>(?= ?(?:tag|element|attribute)s?(?:$|[\n ]))/g;

/** XML prologs, and types of other languages between brackets. */
const prologOrType =
	/<\?xml version="1\.[01]"(?: encoding="[\w-]{1,20}")?(?: standalone="\w{2,3}")? ?\?>|(?<=[a-z])<(?:map|set|option|object|select|source|input|image|table|param|form|button)(?=[<,>])/g;

/** Named handlers of a component: pages read the braces as a block with a name. */
const componentHandler = / on[a-z]{3,30}=\{[\w.]{1,60}\}/g;

/** Elements that change how the whole page is read or what it loads. */
const changesPage =
	/^<(?:meta(?=[^>]* (?:charset ?=(?! ?"?utf-8\b)|name ?= ?"?referrer\b))|link(?=[^>]* rel ?= ?"?(?:import|manifest|serviceworker|prerender|prefetch|modulepreload)))/;

function withoutInert(text: string): string {
	return text
		.replace(componentHandler, ' ')
		.replace(prologOrType, ' ')
		.replace(inertTag, (tag) => (changesPage.test(tag) ? tag : ' '))
		.replace(mentionedScript, ' ');
}

/** Limits the pattern to more than inert markup, which is common in documentation pages. */
function active(pattern: RegExp): TextTest {
	return { source: pattern.source, anySign: '<=', test: (text) => pattern.test(text) && pattern.test(withoutInert(text)) };
}

/** Does the same without spaces, which browsers skip. */
function activePacked(pattern: RegExp): TextTest {
	const test = (text: string): boolean => pattern.test(text.replaceAll(' ', ''));
	return { source: pattern.source, anySign: '<', test: (text) => text.includes('<') && test(text) && test(withoutInert(text)) };
}

/** Elements that load, run, send or change the page. Links and text formatting are harmless without a handler. */
const elements =
	'script|iframe|frame|frameset|svg|math|img|image|body|html|head|form|input|button|object|embed|applet|meta|link|base|style|video|audio|source|track|isindex|import|layer|ilayer|bgsound|xml|xss|dialog|details|marquee|textarea|select|option|keygen|template|table|animate(?:motion|transform)?|set|portal|noscript|noembed|noframes|title|plaintext|listing|foreignobject|use|param|slot|blink|param|canvas|map|area|menu|picture|fencedframe|handler|listener|vmlframe|importimplementation';

/** Events of DOM and older browsers, by prefix of their names. */
const events =
	'abort|activate|after|animation|append|audio|auxclick|before|begin|blocked|blur|bounce|cached|cancel|canplay|capture|cell|change|checking|click|close|command|composition|content|context|controlselect|copy|cuechange|cut|dataavail|dataset|dbl|deactivate|device|drag|drop|duration|emptied|encrypted|end(?:ed)?(?= ?=)|enterframe|error|exit|fetch|filterchange|finish|focus|form|fscommand|fullscreen|gesture|got|hashchange|help|input|install|invalid|javascript|key|language|layoutcomplete|load|lose|lost|mark|media|message|mouse|move|moz|mutation|negotiation|notification|obsolete|offline|online(?= ?=)|open|orientation|outofsync|overflow|page|paste|pause|play|pointer|popstate|popuphid|popupshow|process|progress|property|push|rate|ready|receive|redo|rejection|repeat|reset|resize|resourcetiming|resume|reverse|row|scroll|search|securitypolicy|seek|select|show|slot|snap|sound|speech|stalled|start|statechange|stop|storage|submit|success|suspend|sync|textinput|time|toggle|touch|track|transition|undo|unhandled|unload|update|upgrade|urlflip|user|visibility|voice|volume|waiting|webkit|wheel|zoom';

export const crossSiteScripting: readonly Signature[] = [
	...plain(
		activePacked(new RegExp(`<[/?!]?(?:[a-z0-9_-]{1,20}:)?(?:${elements})(?:$|[^a-z0-9@.:-])`)),
		activePacked(
			/<[/?!]?(?:[a-z0-9_-]{1,20}:)?(?:script(?![@.])|iframe|object|embed|applet|dialog|marquee|importimplementation|vmlframe|animate)(?!@)/,
		),
		activePacked(/<[^\n<>]{0,60}(?:formaction|srcdoc|xlink:href|style)\/?=/),
	),
	...packed(
		// `void(0)` is common in links without an effect.
		/(?<![a-z])(?:java|vb|live)script:(?!void\(0\)(?!\w*[^\w\n;]))/,
		/data:(?:text\/(?:html|xml|javascript)|image\/svg\+xml|application\/(?:x?html(?:\+xml)?|javascript|xml))[;,]|data:[^\n,]{0,40},(?:<|alert)/,
		/url\(['"]?(?:java|vb)script/,
		/-moz-binding:|behaviou?r:url\(|style=[^\n]{0,60}(?:expression\(|url\()|@import['"u]/,
		/<style>[^\n]{0,20}[@=\\]|<style>[^\n<]{0,120}(?:url\(|expression\()/,
		/(?<!<)(?:formaction|srcdoc|xlink:href|fscommand|seeksegmenttime)=/,
		/\.(?:call|apply|bind)[^\n`]{0,10}`|\breflect\.[a-z]{2,20}(?:\.call)?[`(]/,
		/[\])}'"](?:\.constructor[`(]|\.(?:sort|map|filter|find|every|foreach)(?:`|\((?:alert|confirm|prompt|eval|print|import|function|console)))/,
		new RegExp(`["'\`/]on(?:${events})[a-z]{0,40}=(?!\\{[\\w.]{1,60}\\})`),
	),
	...plain(
		activePacked(new RegExp(`<[^\\n<>]{0,120}on(?:${events})[a-z]{0,40}=`)),
		active(new RegExp(`<[/?!]?(?:[a-z0-9_-]{1,20}:)?(?:${elements})[\\s/]`)),
		active(new RegExp(`(?:^|[\\s"'\`/;<(={},])on(?:${events})[a-z]{0,40} ?= ?(?:$|[^&=\\n])`)),
		/<[a-z][^\n<>]{0,120} (?:ping|background) ?= ?["']?(?:https?:)?\/\//,
		// Browsers can have more events than this list.
		active(/(?:^|[\s"'`/;<])on(?!board|going|ward|sale|site|demand|prem|line|tolog)[a-z]{6,40} ?=/),
		/[0-9a-f]on[a-z]{3,12}=[0-9a-z]{1,4}yj/,
		/\bxmlns(?::[\w-]{1,20})? ?=(?! ?"https?:\/\/[\w./#-]{1,100}")|<xi:include\b|<xsl:\w|!entity\b|!doctype [^\n]{1,60}\b(?:system|public)\b|!element\b|!attlist\b/,
		/<\?import\b|<!\[cdata\[(?! ?[\w ]{0,60}(?:$|\n|\]\]>))|<!--#(?:exec|include|echo|config|printenv)\b/,
		// A schema is fetched from its `schemaLocation`.
		/\bschemalocation ?= ?["'](?![^"'\n]{0,100} ?https?:\/\/(?:www\.w3\.org|maven\.apache\.org|www\.springframework\.org|java\.sun\.com|xmlns\.jcp\.org|jakarta\.ee|schemas\.(?:microsoft|xmlsoap)\.(?:com|org)|www\.sitemaps\.org)\/[^"' \n]{0,100}["'])[^"'\n]{0,200}:\/\//,
		// Page state and user actions; access to elements alone is common in script examples.
		/(?<![\w/])(?:window|document|self|top|parent|this|frames|globalthis)(?:\. ?|\[ ?['"`]?)(?:cookie|write(?:ln)?|domain|open|name|eval|alert|referrer|url|onerror|atob|execcommand|defaultview|constructor|top|parent|self)['"`]?\]? ?(?:[=.([`+)\]]|$|\n|['"])/,
		/(?<![\w/])(?:window|document|self|top|parent|this|frames|globalthis)(?:\. ?location|\[ ?['"`]location['"`] ?\])(?:\.(?:href|hash|search))? ?(?:=(?!=)|[+)`]|\.(?:assign|replace) ?[(`])/,
		/(?<![\w/])(?:window|document|self|top|parent|this|frames|globalthis)\[ ?['"`](?:body|documentelement|forms|scripts|createelement|fetch|localstorage|getelement\w{1,20}|queryselector\w{0,4})/,
		/(?<![\w/])document\. ?(?:body|documentelement|forms|scripts)[.[]?[\w.[\]]{0,40} ?(?:=(?!=)|\+|\.(?:innerhtml|append|insert|write))/,
		/\b(?:window|self|top|parent|frames|this|globalthis) ?\[ ?(?:['"`/(+]|[a-z]{1,20}\()/,
		/\blocation(?:\.(?:href|assign|replace|hash|search))? ?[=(] ?['"`(/a-z]|\.(?:innerhtml|outerhtml|insertadjacenthtml|fromcharcode|createelement|appendchild|setattribute|srcdoc)\b ?[=(]/,
		// A string of a script ends, and the script continues.
		/['"`)] ?[-+*;|&^] ?[a-z_$][\w$]{0,30}(?:\.[\w$]{1,30}){0,4} ?(?:\(|`)[^\n]{0,80}(?:['"`] ?$|['"`] ?\n|\/\/|[-+*;|&^] ?['"`])/,
		/['"`)] ?[-+*;|&^] ?[a-z_$][\w$.]{0,40} ?=[^=\n][^\n]{0,80}(?:\/\/|<!--|[-+*|&^] ?['"`])/,
		/\bimport ?(?:\{[^\n}]{1,60}\}|\*|\w{1,30}) ?(?:as \w{1,30} )?from ?['"] ?(?:(?!node:)[a-z]{2,10}:|\/\/)|\bimport ?\( ?['"`/]|\bmsgbox ?[("']|<\/script\b|\bfetch ?\( ?(?:['"`] ?(?:[a-z]{2,10}:)?\/\/|\/)|\bnew (?:image|activexobject|function) ?\(|\bnew (?:websocket|worker) ?\( ?['"`] ?(?:[a-z]{2,10}:)?\/\/|\bnavigator\.sendbeacon ?\(|\bthrow ?(?:onerror|alert|\/)/,
	),
	...uncommented(
		/(?<![\w/])document ?(?:\. ?|\[ ?['"`])(?:cookie|write|domain)\b/,
		/(?:^|\n) ?(?:alert|confirm|prompt|atob|btoa|eval) ?\( ?\) ?;?(?:$|\n)/,
		// Empty brackets name a function in a sentence.
		/\b(?:alert|confirm|prompt|eval|atob|btoa|execscript|new function|importscripts|fromcharcode) ?(?:\( ?(?!\)(?:$|[\n ,.?!]))|`|\]\()/,
		/\b(?:settimeout|setinterval|setimmediate) ?(?:`|\]\(|\( ?(?:['"`]|(?!fn\b|func\b|cb\b|callback\b|resolve\b)\w{1,40} ?[(.]))/,
		/\[ ?\d{0,6} ?\] ?\. ?(?:sort|map|filter|find|every|foreach|reduce|some) ?\. ?call/,
	),
	...plain(anyOf('<%00script', '&#x3c;script', '\\u003cscript', '%3cscript', '+adw-script')),
];
