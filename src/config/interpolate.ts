/** `${VAR}`, `${VAR:-default}` and `${VAR:?message}`, whose default may hold further ones; `$${` stands for the text `${`. */
import type { Environment } from './defaults.ts';

const head = /\$\{([A-Za-z_][A-Za-z0-9_]*)(:-|:\?)?/y;

const mostNested = 16;

const malformed = '`${` starts a variable: write ${NAME}, ${NAME:-default} or ${NAME:?message}, or `$${` for the text itself';

export interface Interpolated {
	readonly text: string;
	readonly problems: readonly string[];
}

/** What a variable holds is not looked at again. `:-` and `:?` take an empty variable for an unset one, as a shell does. */
export function interpolate(source: string, env: Environment): Interpolated {
	const problems: string[] = [];
	let at = 0;
	/** As far as the brace that ends an operand, or the end. @param depth of operands in operands. */
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
		// What is malformed is not read twice.
		at += whole.length || 2;
		const problemsBefore = problems.length;
		const operand = operator === undefined || depth === mostNested ? '' : expand(depth + 1);
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
		// Nobody needs the operand, so nothing in it can be wrong.
		problems.length = problemsBefore;
		if (!value) problems.push(`the environment variable ${name} is required: ${operand === '' ? 'it is not set' : operand}`);
		return value ?? '';
	};
	return { text: expand(0), problems };
}

/** The text that interpolates to `text`. */
export function escapeInterpolation(text: string): string {
	return text.replaceAll('${', '$$${');
}
