import type { ClientDialectName, DialectName } from '../../../core/dialect-name.ts';
import type { Target } from '../../../policy/routing/target.ts';
import { isResponsesOnly } from '../../../wire/dialects/responses/responses-only.ts';
import { dialectAt } from '../../../wire/translate.ts';
import type { GatewayDeps } from '../gateway-deps.ts';

/** Returns the dialect in which a target receives requests of a format; undefined if its provider does not serve them. */
export function targetDialect(
	target: Target,
	format: ClientDialectName,
	{ providers, modelCapabilities }: Pick<GatewayDeps, 'providers' | 'modelCapabilities'>,
): DialectName | undefined {
	const protocol = providers.get(target.provider)?.protocol;
	if (protocol === undefined) return undefined;
	const said = modelCapabilities.of(target);
	return dialectAt(protocol, format, said.dialect ?? (isResponsesOnly(said.knownAs ?? target.model) ? 'responses' : undefined));
}
