import { type CallExpression, type Expression, parseSync, Visitor } from 'oxc-parser';
import type { Passage } from './passage.ts';

const testFile = /\.(?:test|contract)\.ts$/;
const testFunctions: ReadonlySet<string> = new Set(['describe', 'it', 'test']);

/** Titles of tests and of their groups, each as a passage. Values of a template are read as code spans. */
export function readTitles(path: string, source: string): Passage[] {
	if (!testFile.test(path)) return [];
	const titles: Passage[] = [];
	const note = ({ callee, arguments: [title] }: CallExpression): void => {
		if (title === undefined || title.type === 'SpreadElement' || !testFunctions.has(calledName(callee) ?? '')) return;
		const text = textOf(title);
		if (text === undefined) return;
		titles.push({
			kind: 'title',
			text: text.replaceAll(/`[^`]*`/g, '`…`'),
			lines: [{ offset: 0, line: source.slice(0, title.start).split('\n').length }],
		});
	};
	new Visitor({ CallExpression: note }).visit(parseSync(path, source).program);
	return titles;
}

/** Name at the root of `test`, `test.skipIf(condition)` and `describe.each(rows)`. */
function calledName(callee: Expression): string | undefined {
	if (callee.type === 'Identifier') return callee.name;
	if (callee.type === 'CallExpression') return calledName(callee.callee);
	if (callee.type === 'TaggedTemplateExpression') return calledName(callee.tag);
	return callee.type === 'MemberExpression' ? calledName(callee.object) : undefined;
}

function textOf(title: Expression): string | undefined {
	if (title.type === 'Literal') return typeof title.value === 'string' ? title.value : undefined;
	return title.type === 'TemplateLiteral' ? title.quasis.map(({ value }) => value.cooked).join('`…`') : undefined;
}
