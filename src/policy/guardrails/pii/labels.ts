/** Words next to a number that identify it: before it, or after it ("555-0100 is my cell"). */

/** Maximum distance of a label before a number. */
const maxLabelBefore = 40;
/** Maximum distance from a number to the end of a label or extension after it. */
export const maxLabelAfter = 48;

const phoneBefore =
	/(?:phone|(?<![\p{L}])(?:tel(?:[eé]f(?:on[oe]?)?)?|t[eé]l|ph|mob(?:ile)?|m[oó]vil|cel(?:l|ular)?|fax|handy(?:nr|nummer)?|rufnummer|portable|landline|hotline|helpline|whatsapp|sms|call(?:ed|ing|s)?|dial(?:ed|ing|s)?|rings?|text (?:me|him|her|us|them)|reach (?:me|him|her|us|them)|contact|number is|тел|телефон)(?![\p{L}])|téléphone|telefo?on|telefax|mobil|(?:cell|mobile|contact|fax)[_ -]?(?:no|num|nr)|☎|📞|📱|電話|电话|手机|전화)[^\d]{0,30}$|(?<![\p{L}\p{N}])[tmpf] ?[:.] {0,2}$/iu;
/** Words that join a number to its label: "is my", "that was the office". */
const joiningWords =
	"(?:(?:is|was|are|'s|that|which|lautet|this|it|my|mine|her|his|our|your|their|the|an?|work|home|office|private|personal|business|main|direct|new|old|for|as|to|ist|war|mein[es]?|sein[es]?|ihr[es]?|das|die|der|est|mon|ma|le|la|el|es|mi|su|è|il|mio)[^\\p{L}\\p{N}\\n]{1,3}){0,5}";
/** Signs between a number and the words after it. */
const signsAfter = '^[^\\p{L}\\p{N}\\n.!?]{0,8}';
const phoneAfter = new RegExp(
	`${signsAfter}(?:${joiningWords}(?:(?:tele|cell|smart|mobile)?phone|tel|telefon|handy|mob(?:il|ile)?|cell(?:ular)?|fax|whatsapp|hotline|helpline|landline|téléphone|portable|teléfono|móvil|телефон|ruf)(?:nummer|nr|number)?(?!\\p{L})|${joiningWords}(?<=(?:my|her|his|our|your|their|meine|mon|mi)[^\\p{L}]{1,3}(?:(?:work|home|office|private|personal|business|direct|new|main)[^\\p{L}]{1,3})?)(?:number|nr|nummer|numéro|número)(?!\\p{L}))`,
	'iu',
);
const phoneAfterInBrackets = /^[ ]{0,2}[([](?:home|work|office|mobile|cell|tel|fax|[hwmcto])[)\]]/i;

const ssnWords = 'ssn|s\\.s\\.n|s\\.?s\\.? ?(?:#|no|num)|soc(?:ial)?\\.?[ _-]?sec(?:urity)?|social(?: (?:is|number|no))';
const ownSocial = "(?:(?<!\\p{L})(?:my|his|her|our|your|their)|['’]s) social(?!\\p{L}| ?(?:media|network|club|event|account|post))";
const ssnBefore = new RegExp(`(?<!\\p{L})(?:${ssnWords})|${ownSocial}`, 'iu');
const ssnBeforeInName = /[a-z_](?:SSN|Ssn|_ssn|SocialSecurity)/;
const ssnAfter = new RegExp(`${signsAfter}${joiningWords}(?:${ssnWords}|social(?!\\p{L}))`, 'iu');

/** Extension number in a company: "ext. 12", "x12", "Durchwahl 12". */
const extension =
	/[ ]{0,2}[,;(-]?[ ]{0,2}(?:ext(?:ension|n|ensi[oó]n)?|x|#|durchwahl|dw|app(?:arat)?|nebenstelle|poste|anexo|interno?|int|ramal|toestel|доб)[ .:=#]{0,3}\d{1,6}(?![\d\p{L}])/iuy;

export function contextBefore(text: string, at: number): string {
	return text.slice(Math.max(0, at - maxLabelBefore), at);
}

export function contextAfter(text: string, at: number): string {
	return text.slice(at, at + maxLabelAfter);
}

export function saysPhone(before: string, after: string): boolean {
	return phoneBefore.test(before) || phoneAfter.test(after) || phoneAfterInBrackets.test(after);
}

/** @param start of the number. @param end of it. */
export function isLabelledSsn(text: string, start: number, end: number): boolean {
	const before = contextBefore(text, start);
	return ssnBefore.test(before) || ssnBeforeInName.test(before) || ssnAfter.test(contextAfter(text, end));
}

/** @returns the end of the extension that follows a number; `end` if there is none. */
export function extensionEnd(text: string, end: number): number {
	extension.lastIndex = end;
	return extension.test(text) ? extension.lastIndex : end;
}
