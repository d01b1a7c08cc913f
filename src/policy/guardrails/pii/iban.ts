/** International bank account numbers (ISO 13616): a country, its length, and the check digits. */
import { isAlphanumeric, isSignAt } from './signs.ts';

const lengths: ReadonlyMap<string, number> = new Map(
	(
		'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 ' +
		'FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 ' +
		'LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 ' +
		'SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
	)
		.split(' ')
		.map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Signs and white space that may stand together in it. */
const longestGap = 8;
const groupSize = 4;

/** @returns the end of the number that begins at `start`, written together or in groups with signs between them; -1 for none. */
export function ibanEnd(text: string, start: number): number {
	const length = lengths.get(text.slice(start, start + 2).toUpperCase());
	if (length === undefined) return -1;
	let plain = '';
	let at = start;
	for (let gap = 0; plain.length < length; at++) {
		if (isAlphanumeric(text.charCodeAt(at))) {
			// Cut elsewhere than people do, words could be taken for one.
			if (gap > 0 && plain.length % groupSize !== 0 && !/^..\d*$/.test(plain)) return -1;
			plain += text.charAt(at);
			gap = 0;
		} else if (++gap > longestGap || at >= text.length || !isSignAt(text, at)) {
			return -1;
		}
	}
	if (plain.length < length || isAlphanumeric(text.charCodeAt(at))) return -1;
	return remainder(plain.toUpperCase()) === 1 ? at : -1;
}

/** Of the number with its first four characters moved to the end and letters written as 10 to 35, divided by 97. */
function remainder(iban: string): number {
	let rest = 0;
	for (const character of iban.slice(4) + iban.slice(0, 4)) {
		const value = Number.parseInt(character, 36);
		rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
	}
	return rest;
}
