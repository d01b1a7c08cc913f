import { blockWords } from '../test/support/block-words.ts';
import { measureFreshPii } from '../test/support/fresh-pii.ts';
import { measureIpAddresses } from '../test/support/ip-suite.ts';
import { type KeyHalf, keyHalves, keySeed, measureKeys, vendorCount } from '../test/support/key-suite.ts';
import { buildWordList, holdsMatch, measureOrdinarySentences } from '../test/support/ordinary-sentences.ts';
import { measurePii, type Recall } from '../test/support/pii-suite.ts';
import { measureVariants, type VariantFigures } from '../test/support/pii-variants.ts';
import { evasions, listedWords, safeSentences } from '../test/support/word-evasions.ts';

/** What the built-in guardrails find, measured anew each time the page is made. */
export function describeGuardrails(): string {
	const { tuned, other, cleanRows, flaggedRows } = measurePii();
	const kinds = [...new Set([...tuned, ...other].map(({ kind }) => kind))].toSorted();
	const recall = kinds.map((kind) => `| ${kind} | ${shareOf(tuned, kind)} | ${shareOf(other, kind)} |`).join('\n');
	const words = measureWords();
	const ordinary = measureOrdinarySentences();
	const measured = ordinary.sentences - ordinary.withListedWord;
	const blockedShare = ((100 * ordinary.blocked.length) / measured).toFixed(2);
	const ip = measureIpAddresses();
	const [developed, corrected, unseen] = (['developed', 'corrected', 'measured'] as const).map(measureVariants);
	return `# Guardrail measurements

Made by \`npm run docs\`; the same measurements are tests. Speed is in [bench/RESULTS.md](../../bench/RESULTS.md), the content filter in
[content-filter-measurements.md](content-filter-measurements.md).

## Personal data

On \`test/suites/pii\`: half of the synthetic texts of presidio-research, with marks by others. Found of marked, split by template of the
sentence. Neither column is unseen: the telephone numbers of both were read before the rules were written, and mistakes that the first
run showed were corrected (dates taken for telephone numbers and the reverse, card ranges that were missing). The split shows that no
figure hangs on single templates. The suite has few numbers of each kind, and no IP address: those below are generated.

| kind | two thirds of the templates | the others |
|---|---|---|
${recall}

Of ${cleanRows} texts without any of these, ${flaggedRows} were flagged.

IP addresses, in sentences that \`test/support/ip-suite.ts\` generates (so they show what the rules are for, not what people write):
${ip.found} of ${ip.marked} addresses found, half of them of version 6; of ${ip.others} sentences with version numbers, times, ids, hardware
addresses and names in code that are none, ${ip.flagged} flagged.

**Generated spellings.** \`test/support/pii-variants.ts\` makes rows by family: countries, separators, brackets, labels before and after,
extensions, digits, dashes and spaces of other scripts, escapes, JSON, tables, links. A row counts as found when a match of its kind covers it.

| kind | rules were written from these | misses were read and corrected | no rule was written from these |
|---|---|---|---|
${variantRows(developed, corrected, unseen)}

Ordinary rows (order numbers, versions, dates, code, coordinates, prices, ISBNs, UUIDs, hashes, timestamps) that were flagged: ${flaggedOf(developed)},
${flaggedOf(corrected)}, ${flaggedOf(unseen)}.

* **Visible cases**: the first column. The second was measured in two steps, each before anything of it was read: the first step found
  ssn 100 %, card 93 %, email 89 %, phone 94 %, iban 95 %, ip 89 %, keys 100 %; the second ssn 100 %, card 97 %, email 96 %, phone 90 %, iban 93 %,
  ip 92 %, aws_key 95 %, api_key 88 %.
* **The last column** was written after that and measured once. Its misses were seen, and no recall rule came from them. Its one false alarm, a
  network mask in 15 of 1080 rows (1.4 %), was corrected: network masks are no addresses of anybody.

**API keys of ${vendorCount} vendors.** \`test/support/key-suite.ts\` makes random keys in published formats from the seed ${keySeed}. They stand in
settings, JSON, YAML, commands, code and prose. In a labelled row a name such as \`API_KEY\`, \`token\` or \`Authorization: Bearer\` stands before the
key. Ordinary rows hold what looks like a key: commits, UUIDs, digests, images, trace ids, placeholders, names in code.

| vendors | keys found | labelled keys found | ordinary rows flagged | before, and at the first run |
|---|---|---|---|---|
${keyHalves.map(keyRow).join('\n')}

* **Developed**: rules were written from these vendors.
* **Held-out**: the first run measured rules that were written from the others. Then the published beginnings of these vendors were added.
* **Measured**: written and run once after that. Then labels in German, French and Spanish were added, \`root key\` became a label, and a hyphen at the
  end of a key became part of it.
* A key without a label is found by its vendor's published beginning, or by one that says \`pat\`, \`key\`, \`secret\` or \`live\`. Without either it looks like an
  identifier and is not found: all keys that the last row misses but ${missedLabelled('measured')}.

**Fresh spellings.** \`test/support/fresh-pii.ts\` holds thirty spellings of each other kind, written at one sitting and measured once. No rule was changed for them:
${freshFigures()}.

Reproduce: \`npm run docs\` writes this page; \`npx vitest run src/policy/guardrails/pii\` checks that each column keeps 90 % of each kind, and flags at most
1 % of ordinary rows.

The detectors do not find:

* telephone numbers of seven or eight digits without a label such as \`phone\` or \`is my cell\` near them
* North American numbers in three groups with spaces whose area code is not assigned
* numbers written as words, with letters between their groups, or glued to letters
* names, addresses and dates of birth
* keys without a label whose beginning is not published, or that are shorter than twenty characters
* AWS secret access keys without a name such as \`secret access key\` before them, and keys directly behind \`_\`
* cards cut in unusual places (other than 4-4-4-4, 4-6-5, 4-6-4, 8-8, by twos or digit by digit) by other signs than one space, hyphen or dot

False matches are mostly numbers that pass a check by chance, as one in ten of all 16-digit numbers in a card range does. Of lists of
exactly four figures of four digits, such as \`4521, 1874, 5230, 9012\`, about one in twenty is taken for a card, and of five one in
eleven. The same holds for two figures of eight digits and for sixteen single digits. Of longer lists and tables it is one in a hundred.

## Words

${listedWords.length} words in ${evasions.length} disguises (${evasions.map(([name]) => name).join(', ')}): ${words.caught} of ${words.tried} caught.
Of ${safeSentences.length} sentences that hold listed words only inside of other words, ${words.flagged} flagged.

**Ordinary sentences.** ${blockWords.length} common block words (\`test/support/block-words.ts\`) block ${ordinary.blocked.length} of ${measured} ordinary sentences
(${blockedShare} %, at most 0.5 %). They come from ${ordinary.sentences} sentences: 12,000 of \`test/suites/ordinary-sentences\`, which no rule was written from,
and 8,000 that \`test/support/ordinary-sentences.ts\` makes of their words. The made ones have contractions, times, amounts, lists, and neighbouring
words that together spell a listed word. ${ordinary.withListedWord} sentences are left out because they hold a listed word as a word of its own.
Before this rule, 1,224 of the same sentences were blocked.

Not matched: words in Base64 or written backwards, letters replaced by asterisks, other spellings (\`phuck\`), other forms of a word
(\`bombs\` for \`bomb\`: list both), and words cut by one space (\`bo mb\`, \`dark web\` for \`darkweb\`: list \`dark web\`, which matches both).
A number whose digits spell a word matches it (\`455\` for \`ass\`).

Reproduce: \`npm run docs\` writes this page; \`npx vitest run src/policy/guardrails/words\` checks the bounds.
`;
}

const firstRuns: Readonly<Record<KeyHalf, string>> = {
	developed: '165 of 675 (24.4 %) before',
	'held-out': '180 of 690 (26.1 %) before; first run 544 of 690 (78.8 %), labelled 474 of 480 (98.8 %), 0 of 198 flagged',
	measured: 'first run 314 of 358 (87.7 %), labelled 266 of 286 (93.0 %), 0 of 171 flagged',
};

function keyRow(half: KeyHalf): string {
	const { keys, found, labelled, foundLabelled, ordinary, flagged } = measureKeys(half);
	const share = (some: number, all: number): string => `${some} of ${all} (${((100 * some) / all).toFixed(1)} %)`;
	return `| ${half} | ${share(found, keys)} | ${share(foundLabelled, labelled)} | ${flagged} of ${ordinary} | ${firstRuns[half]} |`;
}

function missedLabelled(half: KeyHalf): string {
	const { labelled, foundLabelled } = measureKeys(half);
	return String(labelled - foundLabelled);
}

function freshFigures(): string {
	return measureFreshPii()
		.map(({ kind, found, made }) => `${kind} ${found} of ${made}`)
		.join(', ');
}

type VariantMeasurement = ReturnType<typeof measureVariants>;

function variantRows(...columns: readonly (VariantMeasurement | undefined)[]): string {
	const kinds = columns[0]?.kinds.map(({ kind }) => kind) ?? [];
	const cell = (one: VariantFigures | undefined): string =>
		one === undefined ? '' : `${one.found} of ${one.made} (${((100 * one.found) / one.made).toFixed(1)} %)`;
	return kinds
		.map((kind) => `| ${kind} | ${columns.map((column) => cell(column?.kinds.find((one) => one.kind === kind))).join(' | ')} |`)
		.join('\n');
}

function flaggedOf(measured: VariantMeasurement | undefined): string {
	return measured === undefined ? '' : `${measured.flagged} of ${measured.ordinary}`;
}

function shareOf(half: readonly Recall[], kind: string): string {
	const one = half.find((recall) => recall.kind === kind);
	return one === undefined ? '' : `${one.found} of ${one.marked}`;
}

function measureWords(): { caught: number; tried: number; flagged: number } {
	const list = buildWordList(listedWords);
	const isFound = (text: string): boolean => holdsMatch(list, text);
	const texts = evasions.flatMap(([, disguise]) => listedWords.map((word) => `He said: ${disguise(word)}, and left.`));
	return { caught: texts.filter(isFound).length, tried: texts.length, flagged: safeSentences.filter(isFound).length };
}
