import { parseSync } from 'vite';

/** One small change of a source file. */
export interface Mutant {
	readonly line: number;
	readonly column: number;
	/** Source text before the change. */
	readonly original: string;
	readonly replacement: string;
}

export interface MutableSource {
	readonly mutants: readonly Mutant[];
	/**
	 * Returns the source with the selected mutants in it. Each is behind a check of `test/support/mutant-switch.ts` and has the number
	 * `firstId` plus its index.
	 */
	instrument(isSelected: (index: number) => boolean, firstId: number): string;
}

interface Node {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	readonly [member: string]: unknown;
}

interface Place {
	readonly start: number;
	readonly end: number;
	readonly replacements: readonly string[];
}

const otherOperators: Readonly<Record<string, readonly string[]>> = {
	'<': ['<=', '>='],
	'<=': ['<', '>'],
	'>': ['>=', '<='],
	'>=': ['>', '<'],
	'===': ['!=='],
	'!==': ['==='],
	'+': ['-'],
	'-': ['+'],
	'*': ['/'],
	'/': ['*'],
	'%': ['*'],
	'&&': ['||'],
	'||': ['&&'],
	'??': ['&&'],
	'+=': ['-='],
	'-=': ['+='],
	'++': ['--'],
	'--': ['++'],
};

/** Members that contain no expression, or one that cannot be put in parentheses. */
const skippedMembers = new Set([
	'typeAnnotation',
	'typeArguments',
	'typeParameters',
	'returnType',
	'superTypeArguments',
	'implements',
	'id',
]);
const transparentTypes = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

export function readMutants(source: string): MutableSource {
	const positions: Place[] = [];
	for (const statement of childrenOf(toNode(parseSync('source.ts', source).program))) collect(statement, source, positions);
	const numbered = positions.flatMap((position) => position.replacements.map((replacement) => ({ position, replacement })));
	return {
		mutants: numbered.map(({ position, replacement }) => {
			const before = source.slice(0, position.start).split('\n');
			const original = source.slice(position.start, position.end);
			return { line: before.length, column: (before.at(-1) ?? '').length + 1, original, replacement };
		}),
		instrument(isSelected, firstId) {
			const selected = numbered.map((one, index) => ({ ...one, index })).filter(({ index }) => isSelected(index));
			/** Writes the text from `start` to `end` with the mutants of `within`; an outer position precedes the positions inside it. */
			const write = (start: number, end: number, within: readonly Place[]): string => {
				let text = '';
				let at = start;
				for (const position of within) {
					if (position.start < at) continue;
					const inner = within.filter((other) => other !== position && other.start >= position.start && other.end <= position.end);
					const branches = selected
						.filter((one) => one.position === position)
						.map(({ replacement, index }) => `globalThis.tollgateMutants?.is(${firstId + index}) ? (${replacement}) : `);
					text += `${source.slice(at, position.start)}(${branches.join('')}(${write(position.start, position.end, inner)}))`;
					at = position.end;
				}
				return text + source.slice(at, end);
			};
			const used = positions.filter((position) => selected.some((one) => one.position === position));
			return write(
				0,
				source.length,
				used.toSorted((left, right) => left.start - right.start || right.end - left.end),
			);
		},
	};
}

function collect(node: Node, source: string, positions: Place[]): void {
	if (/^(Import|ExportAll)/.test(node.type) || isNode(node['source'])) return;
	if (node.type.startsWith('TS') && !transparentTypes.has(node.type)) return;
	const replacements = replacementsOf(node, source);
	// Skips conditions and returned values, which their statement has added.
	const isNew = !positions.some(({ start, end }) => start === node.start && end === node.end);
	if (isNew && replacements.length > 0) positions.push({ start: node.start, end: node.end, replacements });
	positions.push(...positionsOfStatement(node, source));
	for (const child of childrenOf(node)) collect(child, source, positions);
}

/** Texts that may replace the expression, each a mutant. */
function replacementsOf(node: Node, source: string): string[] {
	/** Adds parentheses if another operator could split the expression. */
	const text = (part: unknown): string => {
		const { type, start, end } = toNode(part);
		const slice = source.slice(start, end);
		return /^(Identifier|Literal|(Member|Call|This|Parenthesized)Expression)$/.test(type) ? slice : `(${slice})`;
	};
	switch (node.type) {
		case 'BinaryExpression':
		case 'LogicalExpression':
		case 'AssignmentExpression': {
			const [left, operator, right] = [text(node['left']), String(node['operator']), text(node['right'])];
			// Excludes `+` between strings, which concatenates.
			if (operator.startsWith('+') && [left, right].some((side) => /^\(?['"`]/.test(side))) return [];
			return (otherOperators[operator] ?? []).map((other) => `${left} ${other} ${right}`);
		}
		case 'UpdateExpression': {
			const other = otherOperators[String(node['operator'])]?.[0] ?? '';
			return [node['prefix'] === true ? `${other}${text(node['argument'])}` : `${text(node['argument'])}${other}`];
		}
		case 'UnaryExpression':
			return node['operator'] === '!' || node['operator'] === '-' ? [text(node['argument'])] : [];
		case 'Literal':
			return literalReplacements(node['value'], String(node['raw']));
		default:
			return [];
	}
}

function literalReplacements(value: unknown, raw: string): string[] {
	if (typeof value === 'boolean') return [String(!value)];
	if (typeof value === 'number') return [`${raw} + 1`];
	if (typeof value === 'string') return /^\d[\w]*n$/.test(raw) ? [`${raw} + 1n`] : [value === '' ? `'mutant'` : `''`];
	return typeof value === 'bigint' ? [`${raw} + 1n`] : [];
}

/** Mutants of statements: conditions always true or false, values not returned, functions not called. */
function positionsOfStatement(node: Node, source: string): Place[] {
	const position = (part: unknown, ...replacements: string[]): Place[] => {
		if (!isNode(part)) return [];
		return [{ start: part.start, end: part.end, replacements: [...replacementsOf(part, source), ...replacements] }];
	};
	const isPlain = (part: unknown): boolean =>
		isNode(part) && (part.type === 'Literal' || source.slice(part.start, part.end) === 'undefined');
	switch (node.type) {
		case 'IfStatement':
		case 'ConditionalExpression':
			return position(node['test'], 'true', 'false');
		case 'WhileStatement':
		case 'ForStatement':
			return position(node['test'], 'false');
		case 'ReturnStatement':
			return isPlain(node['argument']) ? [] : position(node['argument'], 'undefined');
		case 'ArrowFunctionExpression':
			return node['expression'] !== true || isPlain(node['body']) ? [] : position(node['body'], 'undefined');
		case 'ExpressionStatement': {
			const { expression } = node;
			return isNode(expression) && /^(Call|Await|Chain)Expression$/.test(expression.type) ? position(expression, 'undefined') : [];
		}
		default:
			return [];
	}
}

function childrenOf(node: Node): Node[] {
	return Object.entries(node).flatMap(([name, value]) => {
		if (skippedMembers.has(name) || (node['computed'] !== true && (name === 'key' || name === 'property'))) return [];
		if (name === 'expression' && typeof node['directive'] === 'string') return [];
		return (Array.isArray(value) ? value : [value]).filter(isNode);
	});
}

function isNode(value: unknown): value is Node {
	return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

function toNode(value: unknown): Node {
	if (!isNode(value)) throw new Error('not a part of a syntax tree');
	return value;
}
