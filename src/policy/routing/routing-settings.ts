import type { ProviderFacts } from '../../core/allow-lists.ts';
import type { ClientDialectName } from '../../core/dialect-name.ts';
import type { RoutingRule } from '../../core/routing-rule.ts';
import type { Target } from './target.ts';

export interface RoutingSettings {
	/** Use of the header `x-gateway-provider`: ignored, if present, or required. */
	readonly providerHeader: 'ignore' | 'optional' | 'required';
	/** Values `provider/model` by the name that clients use. */
	readonly aliases: Readonly<Record<string, string>>;
	/** Provider by format, for names that nothing else resolves. */
	readonly defaults: Readonly<Partial<Record<ClientDialectName, string>>>;
}

/** Configured provider as routing sees it. */
export interface RoutedProvider {
	readonly name: string;
	readonly kind: string;
	/** Names that lead to this provider whatever their family. A name of two providers leads to the first. */
	readonly models?: readonly string[];
	readonly facts?: ProviderFacts;
}

/** Input of the routing decision for a request. */
export interface RoutingInput {
	readonly format: ClientDialectName;
	/** Model name as sent by the client. */
	readonly model: string;
	readonly team: string;
	/** Key of a weighted rule: requests with the same one get the same target. */
	readonly stickyKey: string;
	/** Active rules of operators, by precedence. */
	readonly rules: readonly RoutingRule[];
	/** Value of the `x-gateway-provider` header. */
	readonly providerHeader: string | undefined;
	/** Returns the vendor's name of a target's model. Set for requests that must stay with one model: their rules lead to no other. */
	readonly modelOf?: (target: Target) => string;
}

/** Name that clients can use, and its target. */
export interface ListedModel {
	readonly id: string;
	readonly target: Target;
}

/** Model by its name at a provider. */
export interface ProviderModel {
	readonly provider: string;
	readonly model: string;
}
