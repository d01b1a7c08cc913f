/**
 * Characters that are read as a Latin letter. Chosen by hand from what keyboards, text generators and other scripts offer;
 * what compatibility normalisation undoes (full-width, mathematical, circled letters) is not listed.
 */
const readAs: Readonly<Record<string, string>> = {
	a: 'аɑαɐᴀ∀ⱥƛΛ',
	b: 'бвьъβɓʙƀƃБ฿₿',
	c: 'сϲᴄɔƈȼⅽ¢ցͼ©',
	d: 'ԁɗɖᴅđðƌ',
	e: 'еєεəɛᴇɘ∑€℮ҽєɇǝ',
	f: 'ƒꜰɟϝ',
	g: 'ɡɢɠǥցǤ',
	h: 'нһɦʜħΗնհҺ',
	i: 'іιıɪɨỉᴉ¡ǀ∣ӏΙӀ',
	j: 'јʝᴊɉȷյɾ',
	k: 'кκᴋƙкʞ',
	l: 'ʟłɭⱡŀ£ꓡ',
	m: 'мᴍɱɯΜ',
	n: 'пɴŋηռոɲƞΝ∩',
	o: 'оοσᴏøɵօ○ο',
	p: 'рρᴘƥþΡ',
	q: 'ԛզɋ',
	r: 'гʀɹɍ®я',
	s: 'ѕꜱʂ§ƨ',
	t: 'тτᴛŧʈƭʇ†Τ',
	u: 'υᴜʊцս∪ʉ',
	v: 'ѵνᴠʋʌ√',
	w: 'ԝωᴡшщʍɯա',
	x: 'хχ×ⲭΧ',
	y: 'уγʏүყƴʎΥ¥',
	z: 'ᴢζƶʐȥ',
	ae: 'æ',
	oe: 'œ',
	ss: 'ß',
};

export const confusables: ReadonlyMap<string, string> = new Map(
	Object.entries(readAs).flatMap(([letters, characters]) => Array.from(characters, (character) => [character, letters] as const)),
);
