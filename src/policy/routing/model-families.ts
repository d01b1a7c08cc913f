import { remembering } from '../../core/remembering.ts';
import type { RoutedProvider } from './routing-settings.ts';

interface Family {
	readonly pattern: RegExp;
	/** The provider's customary name; a provider of this kind serves as well. */
	readonly provider: string;
	readonly kind: string;
}

const families: readonly Family[] = [
	{ pattern: /^claude-/, provider: 'provider_a', kind: 'anthropic' },
	{ pattern: /^(?:gpt-|chatgpt-|o\d)/, provider: 'provider_b', kind: 'openai' },
	{ pattern: /^gemini-/, provider: 'provider_c', kind: 'gemini' },
];

/** Which configured provider serves a model by the family its name belongs to. */
export function compileFamilies(providers: readonly RoutedProvider[]): (model: string) => string | undefined {
	const served = families.flatMap(({ pattern, provider, kind }) => {
		const found = providers.find(({ name }) => name === provider) ?? providers.find((candidate) => candidate.kind === kind);
		return found === undefined ? [] : [{ pattern, provider: found.name }];
	});
	return remembering(1000, (model) => served.find(({ pattern }) => pattern.test(model))?.provider);
}
