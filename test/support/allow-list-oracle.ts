/** Decides which targets lists allow, by regular expressions and without the product's code. */
export interface OracleLists {
	readonly models?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
	readonly providers?: { readonly allow: readonly string[] };
	readonly require?: { readonly region?: string; readonly retention?: string };
}

export interface OracleProvider {
	readonly name: string;
	readonly kind: string;
	readonly facts?: { readonly region?: string | undefined; readonly retention?: string | undefined };
	/** Vendor's names of models, by their names here. */
	readonly knownAs?: Readonly<Record<string, string>>;
}

/** Vendors' names of the providers in the tests. */
const vendors: Readonly<Record<string, string>> = {
	anthropic: 'provider_a',
	openai: 'provider_b',
	gemini: 'provider_c',
	google: 'provider_c',
	azure: 'provider_d',
	'azure-openai': 'provider_d',
};

function expression(pattern: string, prefix: string, flags: string): RegExp {
	const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
	return new RegExp(`^${prefix}${parts.join('[^]*')}$`, flags);
}

function resolved(name: string): string {
	const [head = '', ...rest] = name.split('/');
	return rest.length > 0 && Object.hasOwn(vendors, head) ? [vendors[head], ...rest].join('/') : name;
}

/** Returns true if the name is another spelling of the model at the provider. */
function spells(requested: string, { name, kind }: OracleProvider, model: string): boolean {
	const bare = resolved(requested).startsWith(`${name}/`) ? resolved(requested).slice(name.length + 1) : requested;
	return [requested, bare].some((spelled) => {
		if (kind === 'gemini') return spelled.replace(/^(models\/)+(?=.)/, '') === model;
		return kind === 'azure-openai' ? spelled.toLowerCase() === model.toLowerCase() : spelled === model;
	});
}

export function isAllowedByOracle(
	requested: string,
	provider: OracleProvider,
	model: string,
	team: OracleLists,
	tier: OracleLists,
	providerNames: readonly string[],
): boolean {
	const target = `${provider.name}/${model}`;
	const deny = team.models?.deny ?? tier.models?.deny ?? [];
	const known = provider.knownAs?.[model];
	const names = [requested, target, ...(known === undefined ? [] : [`${provider.name}/${known}`])];
	const isDenied = deny.some((given) =>
		[given, resolved(given)].some((pattern) => names.some((name) => expression(pattern, '([^]*/)?', 'i').test(name))),
	);
	if (isDenied) return false;
	const allow = team.models?.allow ?? tier.models?.allow;
	if (allow !== undefined) {
		const isTarget = allow.some((given) => {
			const pattern = resolved(given);
			const head = pattern.includes('/') ? (pattern.split('/')[0] ?? '') : '';
			return expression(pattern, '', '').test(head.includes('*') || providerNames.includes(head) ? target : model);
		});
		const isName = spells(requested, provider, model) || allow.some((pattern) => expression(pattern, '', '').test(requested));
		if (!isTarget || !isName) return false;
	}
	const providers = team.providers?.allow ?? tier.providers?.allow;
	if (providers !== undefined && !providers.some((name) => (vendors[name] ?? name) === provider.name)) return false;
	const region = team.require?.region ?? tier.require?.region;
	const retention = team.require?.retention ?? tier.require?.retention;
	return (
		(region === undefined || provider.facts?.region === region) && (retention === undefined || provider.facts?.retention === retention)
	);
}
