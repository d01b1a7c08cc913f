/** `${VAR}`, `${VAR:-default}` and `${VAR:?message}`; `$${` stands for the text `${`. */
import type { Environment } from './defaults.ts';

const expression = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?:(:-|:\?)([^}]*))?\})?/g;

export interface Interpolated {
	readonly text: string;
	readonly problems: readonly string[];
}

/** What a variable holds is not looked at again. `:-` and `:?` take an empty variable for an unset one, as a shell does. */
export function interpolate(source: string, env: Environment): Interpolated {
	const problems: string[] = [];
	const text = source.replace(
		expression,
		(whole: string, name: string | undefined, operator: string | undefined, operand: string | undefined) => {
			if (whole === '$${') return '${';
			if (name === undefined) {
				problems.push('`${` starts a variable: write ${NAME}, ${NAME:-default} or ${NAME:?message}, or `$${` for the text itself');
				return '';
			}
			const value = Object.hasOwn(env, name) ? env[name] : undefined;
			if (operator === undefined) {
				if (value === undefined) problems.push(`the environment variable ${name} is not set; set it, or write \${${name}:-default}`);
				return value ?? '';
			}
			if (value !== undefined && value !== '') return value;
			if (operator === ':-') return operand ?? '';
			problems.push(`the environment variable ${name} is needed: ${operand === undefined || operand === '' ? 'it is not set' : operand}`);
			return '';
		},
	);
	return { text, problems };
}

/** The text that interpolates to `text`. */
export function escapeInterpolation(text: string): string {
	return text.replaceAll('${', '$$${');
}
