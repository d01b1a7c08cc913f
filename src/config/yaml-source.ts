/** Reads the text of a configuration file: values, their positions, and the environment variables in them. */
import {
	type Document,
	type ErrorCode,
	isAlias,
	isMap,
	isScalar,
	isSeq,
	LineCounter,
	type Node,
	parseDocument,
	type YAMLError,
} from 'yaml';
import type { Environment } from './defaults.ts';
import { interpolate } from './interpolate.ts';
import { type ConfigProblem, type Position, ProblemList } from './problem.ts';
import { formatPath, type Path, type Raw } from './raw.ts';

const maxDepth = 64;
/** Every use of an alias counts, so that nested aliases end at this limit and do not exhaust memory. */
const maxNodes = 200_000;

export interface YamlSource {
	/** Plain objects, lists and scalars; undefined when the text is empty. */
	readonly value: unknown;
	/** `formatPath` of the strings that contained a variable. */
	readonly interpolated: ReadonlySet<string>;
	/** Holds the problems of the text, and positions those that are found later. */
	readonly problems: ProblemList;
}

/** Never throws. Problems of the text are in `problems`, or in `syntaxErrors` when it is no YAML at all. */
export function readYaml(text: string, file: string, env: Environment): YamlSource | { readonly syntaxErrors: readonly ConfigProblem[] } {
	const lines = new LineCounter();
	let document: Document.Parsed;
	try {
		document = parseDocument(text, { lineCounter: lines, prettyErrors: false, schema: 'core', uniqueKeys: false, keepSourceTokens: false });
	} catch (cause) {
		if (!(cause instanceof RangeError)) throw cause;
		return { syntaxErrors: [{ file, line: null, column: null, path: '', message: 'is nested too deeply' }] };
	}
	const errors: YAMLError[] = [...document.errors, ...document.warnings];
	if (errors.length > 0) {
		const syntaxErrors = errors.slice(0, 20).map((error) => {
			const { line, col } = lines.linePos(error.pos[0]);
			return { file, line, column: col, path: '', message: yamlMessage(error.code) };
		});
		return { syntaxErrors };
	}
	const reader = new Reader(lines, file, env);
	const value = document.contents === null ? undefined : reader.read(document.contents, []);
	return { value, interpolated: reader.interpolated, problems: reader.problems };
}

class Reader {
	readonly interpolated = new Set<string>();
	readonly problems: ProblemList;
	readonly #positions = new Map<string, { key: Position; value: Position }>();
	readonly #anchors = new Map<string, Node>();
	/** Nodes that are being read: an alias to one of them would recurse forever. */
	readonly #open = new Set<Node>();
	readonly #lines: LineCounter;
	readonly #env: Environment;
	#nodes = 0;

	constructor(lines: LineCounter, file: string, env: Environment) {
		this.#lines = lines;
		this.#env = env;
		this.problems = new ProblemList(file, this.#positions);
	}

	read(node: Node, path: Path, keyNode: Node = node): unknown {
		const place = formatPath(path);
		const value = this.#positionOf(node);
		this.#positions.set(place, { key: keyNode === node ? value : this.#positionOf(keyNode), value });
		this.#nodes += 1;
		if (this.#nodes > maxNodes) return this.#fail(path, `is too large: more than ${maxNodes} values with aliases resolved`);
		if (path.length > maxDepth) return this.#fail(path, `is nested deeper than ${maxDepth} levels`);
		const target = isAlias(node) ? this.#anchors.get(node.source) : node;
		if (target === undefined) {
			return this.#fail(path, 'uses an alias (`*name`) that no anchor before it defines; quote a text that begins with `*`');
		}
		if (this.#open.has(target)) return this.#fail(path, 'uses an alias of its own parent');
		if ('anchor' in target && typeof target.anchor === 'string') this.#anchors.set(target.anchor, target);
		this.#open.add(target);
		const result = this.#readTarget(target, path, place);
		this.#open.delete(target);
		return result;
	}

	#readTarget(node: Node, path: Path, place: string): unknown {
		if (isMap(node)) return this.#readMap(node.items, path);
		if (isSeq(node)) return node.items.map((item, index) => (isNode(item) ? this.read(item, [...path, index]) : null));
		if (!isScalar(node)) return this.#fail(path, 'is not a value');
		if (typeof node.value !== 'string' || !node.value.includes('${')) return node.value;
		const { text, problems } = interpolate(node.value, this.#env);
		for (const problem of problems) this.problems.add(path, problem);
		this.interpolated.add(place);
		return text;
	}

	#readMap(pairs: readonly { key: unknown; value: unknown }[], path: Path): Raw {
		const record: Raw = {};
		for (const { key, value } of pairs) {
			const name = isScalar(key) ? String(key.value) : undefined;
			if (!isNode(key) || name === undefined) {
				this.#fail(path, 'has a key that is not a plain name');
			} else if (name === '__proto__') {
				this.#fail(path, 'has the key `__proto__`, which is not allowed');
			} else if (Object.hasOwn(record, name)) {
				this.problems.add([...path, name], `is repeated in line ${this.#positionOf(key).line}`, 'key');
			} else {
				record[name] = isNode(value) ? this.read(value, [...path, name], key) : this.#missing(key, [...path, name]);
			}
		}
		return record;
	}

	/** Reports a key without a value, as in `? key`. */
	#missing(key: Node, path: Path): null {
		const position = this.#positionOf(key);
		this.#positions.set(formatPath(path), { key: position, value: position });
		return null;
	}

	#fail(path: Path, message: string): undefined {
		this.problems.add(path, message);
		return undefined;
	}

	#positionOf(node: Node): Position {
		const { line, col } = this.#lines.linePos(node.range?.[0] ?? 0);
		return { line, column: col };
	}
}

function isNode(value: unknown): value is Node {
	return isAlias(value) || isMap(value) || isSeq(value) || isScalar(value);
}

/**
 * Describes a syntax error without the parser's message, because that may quote the text. An unquoted password that begins with `*`, `!` or
 * `&` is such a text.
 */
function yamlMessage(code: ErrorCode): string {
	return `is not valid YAML: ${messages[code]}`;
}

const messages: Readonly<Record<ErrorCode, string>> = {
	ALIAS_PROPS: 'an alias (`*name`) cannot have an anchor or tag',
	BAD_ALIAS: 'an alias or anchor has no valid name; quote a text that begins with `*` or `&`',
	BAD_COLLECTION_TYPE: 'a tag does not fit its value',
	BAD_DIRECTIVE: 'a directive (`%...`) is not known; quote a text that begins with `%`',
	BAD_DQ_ESCAPE: 'a backslash in double quotes starts no known escape; use single quotes',
	BAD_INDENT: 'the indentation does not fit, or a bracket is not closed',
	BAD_PROP_ORDER: 'an anchor or tag is misplaced',
	BAD_SCALAR_START: 'a text begins with a reserved character; quote it',
	BLOCK_AS_IMPLICIT_KEY: 'a second `key: value` on one line; quote a text that contains `: `',
	BLOCK_IN_FLOW: 'indented lists and mappings cannot stand inside brackets',
	DUPLICATE_KEY: 'a key is repeated',
	IMPOSSIBLE: 'it is not readable',
	KEY_OVER_1024_CHARS: 'a key is longer than 1,024 characters',
	MISSING_CHAR: 'a quote, bracket, comma or colon is missing',
	MULTILINE_IMPLICIT_KEY: 'a key goes over more than one line; a `:` may be missing',
	MULTIPLE_ANCHORS: 'a value has more than one anchor',
	MULTIPLE_DOCS: 'the file has more than one document (`---`)',
	MULTIPLE_TAGS: 'a value has more than one tag',
	NON_STRING_KEY: 'a key is not a plain name',
	RESOURCE_EXHAUSTION: 'it is nested too deeply or too large',
	TAB_AS_INDENT: 'a tab is used for indentation; use blanks',
	TAG_RESOLVE_FAILED: 'a tag (`!name`) is not known; quote a text that begins with `!`',
	UNEXPECTED_TOKEN: 'something unexpected stands here; quote a text that contains `{`, `}`, `[`, `]` or `,` inside brackets',
};
