/** Syntax: `${VAR}`, `${VAR:-default}` and `${VAR:?message}`, where the default may contain variables; `$${` is the literal text `${`. */
import type { Environment } from './defaults.ts';

const head = /\$\{([A-Za-z_][A-Za-z0-9_]*)(:-|:\?)?/y;

const maxNested = 16;

const malformed = '`${` starts a variable: write ${NAME}, ${NAME:-default} or ${NAME:?message}, or `$${` for the text itself';

export interface Interpolated {
	readonly text: string;
	readonly problems: readonly string[];
}

/** Expands variables once: their values are not expanded again. As in a shell, `:-` and `:?` treat an empty variable as unset. */
export function interpolate(source: string, env: Environment): Interpolated {
	const problems: string[] = [];
	let at = 0;
	/** Reads up to the brace that ends an operand, or to the end. @param depth nesting depth of operands. */
	const expand = (depth: number): string => {
		let text = '';
		while (at < source.length) {
			if (source.startsWith('$${', at)) {
				text += '${';
				at += 3;
			} else if (source.startsWith('${', at)) {
				text += expandVariable(depth);
			} else {
				if (depth > 0 && source[at] === '}') break;
				text += source[at++];
			}
		}
		return text;
	};
	const expandVariable = (depth: number): string => {
		head.lastIndex = at;
		const [whole = '', name, operator] = head.exec(source) ?? [];
		// Skips malformed text, so that it is not read twice.
		at += whole.length || 2;
		const problemsBefore = problems.length;
		const operand = operator === undefined || depth === maxNested ? '' : expand(depth + 1);
		if (name === undefined || source[at] !== '}') {
			problems.push(malformed);
			return '';
		}
		at++;
		const value = Object.hasOwn(env, name) ? env[name] : undefined;
		if (operator === undefined) {
			if (value === undefined) problems.push(`the environment variable ${name} is not set; set it, or write \${${name}:-default}`);
			return value ?? '';
		}
		if (operator === ':-' && !value) return operand;
		// The operand is unused, so problems in it do not matter.
		problems.length = problemsBefore;
		if (!value) problems.push(`the environment variable ${name} is required: ${operand === '' ? 'it is not set' : operand}`);
		return value ?? '';
	};
	return { text: expand(0), problems };
}

/** Returns the text that interpolates to `text`. */
export function escapeInterpolation(text: string): string {
	return text.replaceAll('${', '$$${');
}
