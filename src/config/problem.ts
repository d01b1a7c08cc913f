import { formatPath, type Path } from './raw.ts';

/** One problem of a configuration. Its text never contains a secret. */
export interface ConfigProblem {
	/** The file with the problem; null when there is no file. */
	readonly file: string | null;
	/** From 1; null when the problem concerns the file as a whole. */
	readonly line: number | null;
	readonly column: number | null;
	/** Dotted path of the setting; empty for the file as a whole. */
	readonly path: string;
	readonly message: string;
}

/** An invalid configuration, with all of its problems. */
export class ConfigError extends Error {
	override readonly name = 'ConfigError';
	readonly problems: readonly ConfigProblem[];
	/** The files that were read, so that a watcher notices their changes. */
	readonly files: readonly string[];

	constructor(problems: readonly ConfigProblem[], files: readonly string[] = []) {
		super(formatProblems(problems));
		this.problems = problems;
		this.files = files;
	}
}

/** Prints one line for each problem: `file:line:column path: message`. */
export function formatProblems(problems: readonly ConfigProblem[]): string {
	return problems.map(formatProblem).join('\n');
}

function formatProblem({ file, line, column, path, message }: ConfigProblem): string {
	const place = [file ?? '(no file)', ...(line === null ? [] : [line, column ?? 1])].join(':');
	return `${place} ${path === '' ? '' : `${path}: `}${message}`;
}

export interface Position {
	readonly line: number;
	readonly column: number;
}

/** Positions of a file's keys and values, by `formatPath`. */
export type Positions = ReadonlyMap<string, { readonly key: Position; readonly value: Position }>;

/** Limits the report: a file of garbage has a problem in every line. */
const maxProblems = 1000;

/** Collects problems of one file. A setting without a position of its own gets that of the section around it. */
export class ProblemList {
	readonly #file: string | null;
	readonly #positions: Positions;
	/** Keyed by path and message, so that no problem is reported twice. */
	readonly #problems = new Map<string, ConfigProblem>();

	constructor(file: string | null, positions: Positions) {
		this.#file = file;
		this.#positions = positions;
	}

	add(path: Path, message: string, at: 'key' | 'value' = 'value'): void {
		if (this.#problems.size === maxProblems) return;
		const place = this.#place(path, at);
		const problem = { file: this.#file, line: place?.line ?? null, column: place?.column ?? null, path: formatPath(path), message };
		this.#problems.set(`${problem.path}\0${message}`, problem);
	}

	/** Returns true if there is a problem at this path or below it. */
	hasWithin(path: Path): boolean {
		const prefix = formatPath(path);
		return [...this.#problems.values()].some(
			(problem) => problem.path.startsWith(prefix) && /^($|[.[])/.test(problem.path.slice(prefix.length)),
		);
	}

	/** Problems in file order. */
	get sorted(): readonly ConfigProblem[] {
		return [...this.#problems.values()].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
	}

	#place(path: Path, at: 'key' | 'value'): Position | undefined {
		const own = this.#positions.get(formatPath(path));
		if (own !== undefined) return own[at];
		for (let length = path.length - 1; length > 0; length -= 1) {
			const enclosing = this.#positions.get(formatPath(path.slice(0, length)));
			if (enclosing !== undefined) return enclosing.key;
		}
		return undefined;
	}
}
