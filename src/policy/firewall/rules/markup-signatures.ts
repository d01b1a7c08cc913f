/** `CrossSiteScripting`: markup that runs, and scripts as they stand in it. */
import { anyOf, packed, plain, type Signature, uncommented } from './signature.ts';

const elements =
	'script|iframe|frame|frameset|svg|math|img|image|body|html|head|form|input|button|object|embed|applet|meta|link|base|style|video|audio|source|isindex|import|layer|ilayer|bgsound|xml|dialog|details|marquee|textarea|select|template|table|animate|set|portal|noscript|a';

export const crossSiteScripting: readonly Signature[] = [
	...packed(
		new RegExp(`<[/?!]?(?:[a-z0-9_-]{1,20}:)?(?:${elements})(?:$|[^a-z0-9])`),
		/<[/?!]?(?:[a-z0-9_-]{1,20}:)?(?:script|iframe|object|embed|applet|dialog|form|marquee|style|importimplementation|vmlframe)/,
		/<[^\n<>]{0,40}(?:on[a-z]{3,40}|formaction|srcdoc|xlink:href|href|src|style)\/?=/,
		/(?:java|vb|live)script:/,
		/data:(?:text\/(?:html|xml|javascript)|image\/svg|application\/x?html)/,
		/url\(['"]?(?:java|vb)script/,
		/-moz-binding:|behaviou?r:url\(|style=[^\n]{0,60}(?:expression\(|url\()/,
		/<style>[^\n]{0,20}[@=\\]/,
		/['"`]?(?:formaction|srcdoc|xlink:href|fscommand|seeksegmenttime)=/,
		/\.(?:call|apply|bind)[^\n`]{0,10}`|\breflect\.[a-z]{2,20}(?:\.call)?[`(]/,
		/[\])}'"](?:\.(?:constructor|sort|map|filter|find|every|foreach))[`(]/,
	),
	...plain(
		/(?:^|[\s"'`/;<(={},])on(?!ly\b|ce\b|line\b|e )[a-z]{3,50} ?= ?[^&=\n]/,
		/(?:^|[\s"'`/;<])on[a-z]{3,50} ?=(?:$|\n| )/,
		/[0-9a-f]on[a-z]{3,12}=[0-9a-z]{1,4}yj/,
		/\bxmlns ?=|!entity\b|!doctype [^\n]{1,60}\b(?:system|public)\b/,
		/<\?import\b|<!\[cdata\[|\bwindow\.location ?=|\bdocument\.(?:cookie|write|domain|createelement|body) ?[=.(]/,
		/\.(?:innerhtml|outerhtml|insertadjacenthtml|fromcharcode|createelement|appendchild)\b ?[=(]/,
	),
	...uncommented(
		/\b(?:alert|confirm|prompt|eval|atob|btoa|settimeout|setinterval|setimmediate|execscript|new function|importscripts|fromcharcode) ?[(`]/,
		/\[ ?\d{0,6} ?\] ?\. ?(?:sort|map|filter|find|every|foreach|reduce|some) ?\. ?call/,
	),
	{ form: 'plain', pattern: anyOf('<%00script', '&#x3c;script', '\\u003cscript', '%3cscript', '+adw-script') },
];
