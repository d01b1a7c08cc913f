import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';

type Container = Record<string, unknown> | unknown[];

/** Deeper or wider arguments are no tool's. */
const longestIndex = 100_000;

/** A call whose arguments come in pieces, each with its place as a JSON path: `$.rows[0].name`. */
export class PartialCall {
	readonly id: unknown;
	readonly name: unknown;
	readonly signature: string | undefined;
	args: JsonObject = {};

	constructor(id: unknown, name: unknown, signature: string | undefined) {
		this.id = id;
		this.name = name;
		this.signature = signature;
	}

	add(args: unknown, pieces: unknown): void {
		if (isJsonObject(args)) this.args = { ...this.args, ...args };
		for (const piece of Array.isArray(pieces) ? (pieces as readonly unknown[]) : []) {
			if (isJsonObject(piece) && typeof piece.jsonPath === 'string') {
				addPiece(this.args, stepsOf(piece.jsonPath), piece);
			}
		}
	}
}

function stepsOf(path: string): readonly (string | number)[] {
	return [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g)].map(([, name, index, quoted]) =>
		index === undefined ? (name ?? quoted ?? '') : Math.min(Number(index), longestIndex),
	);
}

function addPiece(root: Container, steps: readonly (string | number)[], piece: JsonObject): void {
	let holder = root;
	for (const [at, step] of steps.entries()) {
		const next = steps[at + 1];
		if (next === undefined) {
			const earlier = read(holder, step);
			const { stringValue } = piece;
			// A string that goes on comes in pieces itself.
			write(
				holder,
				step,
				typeof stringValue === 'string' ? (typeof earlier === 'string' ? earlier + stringValue : stringValue) : valueOf(piece),
			);
			return;
		}
		const inner = read(holder, step);
		if (typeof inner === 'object' && inner !== null) {
			holder = inner as Container;
		} else {
			const made: Container = typeof next === 'number' ? [] : {};
			write(holder, step, made);
			holder = made;
		}
	}
}

function valueOf({ numberValue, boolValue }: JsonObject): unknown {
	return numberValue ?? boolValue ?? null;
}

function read(holder: Container, step: string | number): unknown {
	return Object.hasOwn(holder, step) ? (holder as Record<string | number, unknown>)[step] : undefined;
}

/** Defined, not assigned: a caller's tool may have an argument `__proto__`. */
function write(holder: Container, step: string | number, value: unknown): void {
	Object.defineProperty(holder, step, { value, writable: true, enumerable: true, configurable: true });
}
