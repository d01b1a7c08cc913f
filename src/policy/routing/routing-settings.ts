import type { ClientDialectName } from '../../core/dialect-name.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import type { Target } from './target.ts';

export interface RoutingSettings {
	/** Whether `x-gateway-provider` decides: not at all, when it is there, or always. */
	readonly providerHeader: 'ignore' | 'optional' | 'required';
	/** `provider/model` by the name callers use. */
	readonly aliases: Readonly<Record<string, string>>;
	/** Provider by format, for names that nothing else decides. */
	readonly defaults: Readonly<Partial<Record<ClientDialectName, string>>>;
}

/** A configured provider as routing sees it. */
export interface RoutedProvider {
	readonly name: string;
	readonly kind: string;
	/** Names that lead to this provider whatever they look like. A name that two providers have leads to the first. */
	readonly models?: readonly string[];
}

/** What is known of a call when its target is decided. */
export interface RoutingFacts {
	readonly format: ClientDialectName;
	/** As the caller wrote it. */
	readonly model: string;
	readonly team: string;
	/** Calls with the same key find the same target of a weighted rule. */
	readonly stickyKey: string;
	/** Operators' rules in force, in the order in which they count. */
	readonly rules: readonly RoutingRule[];
	/** The `x-gateway-provider` header field. */
	readonly providerHeader: string | undefined;
}

/** A name that clients may use, and where it leads. */
export interface ListedModel {
	readonly id: string;
	readonly target: Target;
}

/** A model by its name at a provider. */
export interface ProviderModel {
	readonly provider: string;
	readonly model: string;
}
