import { describe, expect, test } from 'vitest';
import { findInFile } from '../../scripts/prose/findings.ts';
import { phrases } from '../../scripts/prose/glossary.ts';

/** Rules that a file violates, with lines. */
function rulesBroken(file: string, text: string): string[] {
	return findInFile(file, text).map(({ rule, line }) => `${rule} ${line}`);
}

const words = (count: number): string => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');

describe('phrases', () => {
	test.each([
		['a paragraph', 'docs/a.md', '# Title\n\nThe edge runs\napart.', 4],
		['a list', 'docs/a.md', 'Modes:\n\n* It runs apart.', 3],
		['a cell', 'docs/a.md', '| a | b |\n|---|---|\n| one | runs apart |', 3],
		['a heading', 'docs/a.md', '# Edges apart', 1],
		['link text', 'README.md', 'See [edges apart](docs/a.md).', 1],
		['a line comment', 'src/a.ts', 'const a = 1;\n// It runs apart.', 2],
		['the second line of a comment', 'src/a.ts', '// It runs\n// apart.', 2],
		['a block comment', 'src/a.ts', '/**\n * Runs\n * apart.\n */\nconst a = 1;', 3],
		['a comment after code', 'src/a.ts', 'const a = 1; // It runs apart.', 1],
		['a tag of a comment', 'src/a.ts', '/** @returns those apart. */\nconst a = 1;', 1],
		['SQL', 'src/a.sql', 'SELECT 1;\n-- It runs apart.', 2],
		['Lua', 'src/a.lua', 'local a = 1 -- It runs apart.', 1],
		['YAML', 'tollgate.example.yaml', '# It runs apart.\na: 1', 1],
	])('are found in %s', (_, file, text, line) => {
		expect(findInFile(file, text)).toEqual([{ file, line, rule: 'phrase', found: 'apart', write: 'separate, standalone' }]);
	});

	test.each([
		['a test', "test('runs apart', () => {});"],
		['a group', "describe('edges apart', () => {});"],
		['a conditional test', "it.skipIf(isOld)('runs apart', () => {});"],
		['a table of tests', "test.each([['a', 1]])('%s apart', () => {});"],
		['a table in a template', 'test.each`a`("apart", () => {});'],
		['a template', 'test(`runs ${mode} apart`, () => {});'],
	])('are found in the title of %s', (_, source) => {
		const found = [{ rule: 'phrase', line: 2, found: 'apart' }];
		expect(findInFile('src/a.test.ts', `\n${source}`)).toMatchObject(found);
		expect(findInFile('src/a.contract.ts', `\n${source}`)).toMatchObject(found);
		expect(findInFile('src/a.ts', `\n${source}`)).toEqual([]);
	});

	test.each(["send('apart');", 'test("`apart` is a value", run);', 'test(`${apart} is a value`, run);', "test('a', () => send('apart'));"])(
		'of tests are spared in %s',
		(source) => {
			expect(findInFile('src/a.test.ts', source)).toEqual([]);
		},
	);

	test.each([
		['a code block', 'docs/a.md', 'Run:\n\n```sh\necho apart\n```'],
		['a code span', 'docs/a.md', 'The value is `apart`.'],
		['the address of a link', 'docs/a.md', 'See [edges](apart.md).'],
		['a longer word', 'docs/a.md', 'The apartment is apart-like.'],
		['a string', 'src/a.ts', "const a = 'it runs apart // apart';"],
		['a template', 'src/a.ts', 'const a = `// apart`;'],
		['a code span of a comment', 'src/a.ts', '// The value is `apart`.'],
		['a SQL string', 'src/a.sql', "SELECT 'apart';"],
		['a setting that is commented out', 'tollgate.example.yaml', '# mode: apart'],
	])('are spared in %s', (_, file, text) => {
		expect(findInFile(file, text)).toEqual([]);
	});

	test.each([
		['Counts are told by the provider.', 'told'],
		['Requests are turned away.', 'turned away'],
		['The key lies in clear.', 'in clear'],
		['The text was refused.', 'refused'],
		['It turns most requests away.', 'turns most requests away'],
		['The gateway answers with 502.', 'answers'],
		['It goes on to another provider.', 'goes on'],
		['Responses, whole and streamed.', 'whole and streamed'],
		['The page of figures.', 'figures'],
		['Those of dead runs.', 'dead runs'],
		['With foreign marks.', 'foreign marks'],
		['We send it.', 'We'],
	])('%s', (text, phrase) => {
		expect(findInFile('docs/a.md', text).map(({ found }) => found)).toContain(phrase);
	});

	test.each([
		'The connection was refused.',
		'A refused connection.',
		'A regular expression engine.',
		'Apartments.',
		'Well-known addresses.',
		'An ill-formed body.',
	])('"%s" is spared', (text) => {
		expect(findInFile('docs/a.md', text)).toEqual([]);
	});

	test('match what they name and not what to write instead', () => {
		expect(phrases.length).toBeGreaterThan(40);
		for (const { write } of phrases) expect(findInFile('docs/a.md', `The ${write}.`)).toEqual([]);
	});
});

describe('sentences', () => {
	test('are found above 35 words, where they begin', () => {
		expect(rulesBroken('docs/a.md', `Short one.\nThe ${words(9)}\n${words(13)}\n${words(13)}.`)).toEqual(['sentence 2']);
		expect(rulesBroken('src/a.ts', `// Short one.\n// The ${words(35)}.`)).toEqual(['sentence 2']);
		expect(rulesBroken('docs/a.md', `| a |\n|---|\n| The ${words(35)} |`)).toEqual(['sentence 3']);
	});

	test('of 35 words are spared, and a code span is one word', () => {
		expect(rulesBroken('src/a.ts', `// The ${words(34)}.\n// The ${words(34)}.`)).toEqual([]);
		expect(rulesBroken('src/a.ts', `// The ${words(33)} \`${words(9)}\`.`)).toEqual([]);
	});

	test('do not end at an abbreviation or in a number', () => {
		expect(rulesBroken('src/a.ts', `// The ${words(16)}, e.g. Redis 0.1 and ${words(16)}.`)).toEqual(['sentence 1']);
	});

	test('of list items are counted by themselves', () => {
		expect(rulesBroken('src/a.ts', `// The modes:\n// * ${words(20)}\n// * ${words(20)}`)).toEqual([]);
	});
});

describe('headless clauses', () => {
	test.each([
		'What is left is released.',
		'Who asks gets it.',
		'Of whom nothing is known.',
		'So much a team may spend.',
		'Whether budgets are enforced.',
		'How long it takes.',
		'Where the file is.',
		'When the entry was opened.',
		'Which provider responds.',
	])('%s', (text) => {
		expect(rulesBroken('docs/a.md', `First one. ${text}`)).toEqual(['headless 1']);
		expect(rulesBroken('docs/a.md', `* ${text}`)).toEqual(['headless 1']);
		expect(rulesBroken('docs/a.md', `| a |\n|---|\n| ${text} |`)).toEqual(['headless 3']);
		expect(rulesBroken('src/a.ts', `/** ${text} */\nconst a = 1;`)).toEqual(['headless 1']);
	});

	test.each([
		'What happens at 100 %?',
		'When the budget is used up, Tollgate rejects the request.',
		'Where the dialects differ, the request is translated.',
		'If the budget is used up, Tollgate rejects the request.',
		'However long it takes, it ends.',
		'The entry says when it was opened.',
		'Howitzers and whatnots.',
	])('"%s" is spared', (text) => {
		expect(rulesBroken('docs/a.md', text)).toEqual([]);
		expect(rulesBroken('src/a.ts', `// ${text}`)).toEqual([]);
	});

	test('are found in headings, which may be questions or begin with "How" or "When"', () => {
		expect(rulesBroken('docs/a.md', '# How it works\n\n## Why is it rejected?\n\n## When it fails\n\n## So much remains')).toEqual([
			'headless 7',
		]);
	});

	test('are not the header of a column', () => {
		expect(rulesBroken('docs/a.md', '| where | what it is |\n|---|---|\n| edge | role |')).toEqual(['headless 1']);
	});
});

describe('lines', () => {
	test('of prose are found above 100 characters', () => {
		expect(rulesBroken('docs/a.md', `${'long '.repeat(20)}line`)).toEqual(['line 1']);
		expect(rulesBroken('docs/a.md', `Short.\n\n* ${'long '.repeat(20)}line`)).toEqual(['line 3']);
	});

	test.each([
		['of 100 characters', `${'long '.repeat(19)}lines`],
		['of tables', `| a |\n|---|\n| ${'long '.repeat(20)}|`],
		['of code', `\`\`\`\n${'long '.repeat(21)}\n\`\`\``],
		['with a long address', `The [page](${'a/'.repeat(60)}b.md).`],
	])('%s are spared', (_, text) => {
		expect(rulesBroken('docs/a.md', text)).toEqual([]);
	});

	test('of comments are the formatter’s', () => {
		expect(rulesBroken('src/a.ts', `// ${'long '.repeat(21)}`)).toEqual([]);
	});
});

describe('lengths', () => {
	const page = (count: number): string => Array.from({ length: count / 4 }, () => '* Four words in it').join('\n');

	test('of guides are found above 1200 words', () => {
		expect(rulesBroken('docs/guide/a.md', page(1204))).toEqual(['length 1']);
		expect(rulesBroken('docs/guide/a.md', page(1200))).toEqual([]);
		expect(rulesBroken('docs/concepts/a.md', page(1204))).toEqual([]);
	});

	test('of ARCHITECTURE are found above 250 lines', () => {
		expect(rulesBroken('ARCHITECTURE.md', '* Line\n'.repeat(251))).toEqual(['length 1']);
		expect(rulesBroken('ARCHITECTURE.md', '* Line\n'.repeat(250))).toEqual([]);
	});

	test('of a version in the CHANGELOG are found above 100 lines', () => {
		const version = (lines: number): string => `## 0.${lines}.0\n\n${'* Line\n'.repeat(lines - 2)}`;
		expect(rulesBroken('CHANGELOG.md', `# Changelog\n\n${version(100)}${version(101)}`)).toEqual(['length 103']);
	});
});

describe('names', () => {
	test.each([
		['const told = 1;', 'told'],
		['const isTold = true;', 'isTold'],
		['class A { #toldUsage = 1; }', 'toldUsage'],
		['interface A { told_by: string }', 'told_by'],
		['type ToldAnswer = string;', 'ToldAnswer'],
		['function ownTurn(): void {}', 'ownTurn'],
		['const longestWaitMs = 1;', 'longestWaitMs'],
		['const leastShare = 1;', 'leastShare'],
	])('%s', (text, name) => {
		const source = `export {};\n${text}\n`;
		expect(findInFile('src/a.ts', source)).toMatchObject([{ line: 2, rule: 'name', found: name }]);
	});

	test('in strings, comments and other words are spared, and each is found once in a file', () => {
		expect(findInFile('src/a.ts', "const stoldier = 'told'; // `told`\nconst almost = stoldier;")).toEqual([]);
		expect(findInFile('src/a.ts', 'let told = 1;\ntold = 2;\nfunction show(told: number): number { return told; }')).toHaveLength(1);
	});

	test('of files are found', () => {
		expect(findInFile('src/told-usage.ts', '')).toMatchObject([{ rule: 'name', found: 'src/told-usage.ts' }]);
	});

	test('of settings and fields are found in pages, also in code', () => {
		expect(rulesBroken('docs/a.md', 'The field\n`held_usd`.')).toEqual(['name 2']);
	});
});
