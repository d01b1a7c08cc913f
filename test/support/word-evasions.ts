/** Words, more than thirty ways to disguise them, and sentences that contain them only within other words. */

export const listedWords = [
	'bastard',
	'bomb',
	'cocaine',
	'crackhead',
	'cyanide',
	'darkfish',
	'explosive',
	'grenade',
	'heroin',
	'idiot',
	'kill',
	'loser',
	'moron',
	'murder',
	'napalm',
	'poison',
	'scumbag',
	'suicide',
	'terrorist',
	'weapon',
];

const spread = (text: string, between: string): string => Array.from(text).join(between);
const each = (text: string, change: Readonly<Record<string, string>>): string =>
	Array.from(text, (letter) => change[letter] ?? letter).join('');
const shift = (first: number) => (text: string) =>
	Array.from(text, (letter) => String.fromCodePoint(first + letter.charCodeAt(0) - 0x61)).join('');
const middle = (text: string): number => text.length >> 1;

/** Evasions: a name, and the function that disguises a word. */
export const evasions: readonly (readonly [name: string, disguise: (word: string) => string])[] = [
	['capitals', (word) => word.toUpperCase()],
	['mixed case', (word) => Array.from(word, (letter, index) => (index % 2 === 0 ? letter : letter.toUpperCase())).join('')],
	['zero-width space', (word) => spread(word, '\u200b')],
	['zero-width joiner', (word) => spread(word, '\u200d')],
	['soft hyphen', (word) => spread(word, '\u00ad')],
	['word joiner in the middle', (word) => `${word.slice(0, middle(word))}\u2060${word.slice(middle(word))}`],
	['tag characters between', (word) => spread(word, '\u{e0061}')],
	['variation selectors', (word) => spread(word, '\ufe0f')],
	['direction marks', (word) => spread(word, '\u202e')],
	['full-width letters', shift(0xff41)],
	['mathematical bold', shift(0x1d41a)],
	['mathematical script', shift(0x1d4d0 + 26)],
	['circled letters', shift(0x24d0)],
	['squared letters', shift(0x1f130)],
	['negative squared letters', shift(0x1f170)],
	['regional indicators', shift(0x1f1e6)],
	['Cyrillic look-alikes', (word) => each(word, { a: 'а', e: 'е', o: 'о', c: 'с', p: 'р', x: 'х', i: 'і', s: 'ѕ', k: 'к', m: 'м' })],
	['Greek look-alikes', (word) => each(word, { a: 'α', o: 'ο', i: 'ι', e: 'ε', n: 'η', k: 'κ', p: 'ρ', u: 'υ' })],
	[
		'small capitals',
		(word) => each(word, { a: 'ᴀ', b: 'ʙ', c: 'ᴄ', d: 'ᴅ', e: 'ᴇ', k: 'ᴋ', m: 'ᴍ', o: 'ᴏ', r: 'ʀ', n: 'ɴ', i: 'ɪ', l: 'ʟ' }),
	],
	['accents', (word) => each(word, { a: 'á', e: 'ë', i: 'ï', o: 'ö', u: 'ü', n: 'ñ', c: 'ç' })],
	['struck through', (word) => `${spread(word, '\u0336')}\u0336`],
	['spaces', (word) => spread(word, ' ')],
	['dots', (word) => spread(word, '.')],
	['hyphens', (word) => spread(word, '-')],
	['underscores', (word) => spread(word, '_')],
	['emoji between', (word) => spread(word, '😈')],
	['leet', (word) => each(word, { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7', b: '8' })],
	['leet signs', (word) => each(word, { a: '@', s: '$', i: '!', l: '|' })],
	['Arabic-Indic digits', (word) => each(word, { i: '١', o: '٠', e: '٣', s: '٥' })],
	['drawn-out vowels', (word) => word.replaceAll(/[aeiou]/g, '$&$&$&$&')],
	['character references', (word) => Array.from(word, (letter) => `&#${letter.charCodeAt(0)};`).join('')],
	['percent-encoding', (word) => Array.from(word, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')],
];

/** Sentences that contain listed words within other words, or alarming words that are not listed. */
export const safeSentences = [
	'How do I terminate a Python process that hangs?',
	'The skilled painter killed the engine; her skills are unmatched.',
	'My bombastic uncle is called Bombay Bob.',
	'Explosively fast code: shipping it was murderously hard.',
	'The idiotic-looking moronidae are a family of fish.',
	'She has a killer app, a killjoy brother and a weaponry museum ticket.',
	'A closer look: the glosery opens at four.',
	'Is the poisonous mushroom related to the edible one?',
	'The heroine of the novel is a heroin-free... no, a heroic nurse.'.replace('heroin-free... no, a ', ''),
	'I like big data and I can not lie.',
	'Please class the assets by asset class, and pass the grass.',
	'Scunthorpe and Penistone are towns in England.',
	'Do not embarrass the bassist: his cocktail is a classic.',
	'At 10:30 we go to B&B, OMB and the bank.',
	'bo mbs and ki ll are not words.',
	'Use kill_process()? No: use process.terminate().'.replace('kill_process()', 'stop_process()'),
	'Losers-weepers is not finders-keepers; closers win.',
	'The grenadier guards wear bearskins; grenadine is a syrup.',
	'Suicidality assessment is for professionals, says the handbook.',
	'Terrorists... is a plural that the list does not have.',
];
