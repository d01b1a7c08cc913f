/** Import rules, which `npm run check` and the architecture tests enforce. */
import { cruise, type IRegularForbiddenRuleType, type IReporterOutput } from 'dependency-cruiser';

/**
 * Folders of `src/`, and the other folders of `src/` that each may import. Not listed: `main.ts`, `compose.ts` and `composition`, which may
 * import all.
 */
const canImport: Readonly<Record<string, readonly string[]>> = {
	core: [],
	wire: ['core'],
	policy: ['core'],
	stores: ['core'],
	io: ['core', 'wire', 'policy'],
	roles: ['core', 'wire', 'policy', 'stores/contracts'],
	config: ['core', 'wire', 'policy'],
	cli: ['core', 'config', 'io', 'client'],
	client: [],
};

/**
 * Folders next to `src/`, the folders of `src/` that each may import, and the files of `src/` that may import it. The simulator plays the
 * vendors, so it shares no code with the formats and policies that are tested against it. The training of the content filter uses the
 * scorer.
 */
const beside: Readonly<Record<string, { canImport: readonly string[]; importedBy: string }>> = {
	simulator: { canImport: ['core'], importedBy: '^src/(compose\\.ts$|composition/)' },
	'content-filter': { canImport: ['policy'], importedBy: '^src/composition/' },
};

/** Paths of all code that runs in production. */
const product = `^(src|${Object.keys(beside).join('|')})/`;

/** Folders that import neither packages nor built-in modules. */
const pureFolders = ['core', 'wire', 'policy'];

/** Folders whose members must not import each other; any member may import the files that `shared` matches. */
const strangers: readonly { folder: string; shared: string }[] = [
	{ folder: 'roles', shared: '[^/]+\\.ts$' },
	{ folder: 'stores', shared: '(contracts/|request-blocks/|[^/]+\\.ts$)' },
	{ folder: 'wire/providers', shared: '(providers?|protocol|relayed-headers|scrub-secrets)\\.ts$' },
	{ folder: 'policy/guardrails', shared: '(folding/|(guardrails?|held-back-window|masks|text-evaluation|text-scan|verdicts)\\.ts$)' },
];

/** Packages that a pure folder may import, because they use no clock, network or process. */
const purePackages: Readonly<Record<string, string>> = { 'policy/guardrails': 'node_modules/(re2js|libphonenumber-js)/' };

/** Driver of a store, by backend. */
const drivers = { sqlite: '^node:sqlite', postgres: 'node_modules/(pg|kysely)/', redis: 'node_modules/ioredis/' };

/** Tests, which may import the code that they test. */
const tests = '\\.(test|contract)\\.ts$';

type Rule = Pick<IRegularForbiddenRuleType, 'name' | 'from' | 'to'>;

const rules: Rule[] = [
	{ name: 'no-cycle', from: {}, to: { circular: true } },
	{ name: 'no-unresolved', from: {}, to: { couldNotResolve: true } },
	{ name: 'no-test-in-product', from: { path: product, pathNot: tests }, to: { path: ['^test/', tests] } },
	{ name: 'no-dev-dependency', from: { path: product, pathNot: tests }, to: { dependencyTypes: ['npm-dev', 'npm-no-pkg'] } },
	...Object.entries(canImport).map(([folder, others]) => ({
		name: `${folder}-imports`,
		from: { path: `^src/${folder}/`, pathNot: tests },
		to: { path: '^src/', pathNot: [folder, ...others].map((name) => `^src/${name}/`) },
	})),
	{
		name: 'no-training-in-product',
		from: { path: product, pathNot: [tests, '^content-filter/training/'] },
		to: { path: '^content-filter/training/' },
	},
	...Object.entries(beside).flatMap(([folder, { canImport: others, importedBy }]) => [
		{
			name: `${folder}-imports`,
			from: { path: `^${folder}/`, pathNot: tests },
			to: { path: product, pathNot: [`^${folder}/`, ...others.map((name) => `^src/${name}/`)] },
		},
		{
			name: `${folder}-imported`,
			from: { path: '^src/', pathNot: [importedBy, tests] },
			to: { path: `^${folder}/` },
		},
	]),
	...pureFolders.map((folder) => ({
		name: `${folder}-is-pure`,
		from: { path: `^src/${folder}/`, pathNot: [tests, ...Object.keys(purePackages).map((name) => `^src/${name}/`)] },
		to: { pathNot: '^src/' },
	})),
	...Object.entries(purePackages).map(([folder, packages]) => ({
		name: `${folder}-is-pure`,
		from: { path: `^src/${folder}/`, pathNot: tests },
		to: { pathNot: ['^src/', packages] },
	})),
	...strangers.map(({ folder, shared }) => ({
		name: `${folder}-strangers`,
		from: { path: `^src/${folder}/([^/.]+)`, pathNot: [`^src/${folder}/${shared}`, tests] },
		to: { path: `^src/${folder}/`, pathNot: [`^src/${folder}/$1`, `^src/${folder}/${shared}`] },
	})),
	{
		name: 'undici-client',
		from: { path: '^src/', pathNot: ['^src/io/http1/undici/', tests] },
		to: { path: 'node_modules/undici/' },
	},
	...Object.entries(drivers).map(([backend, driver]) => ({
		name: `${backend}-driver`,
		from: { path: product, pathNot: [`^src/stores/${backend}/`, tests] },
		to: { path: driver },
	})),
];

export interface ImportReport {
	readonly moduleCount: number;
	/** Violations as `rule: from -> to`, sorted. */
	readonly violations: readonly string[];
}

/** Reads the imports, type imports included, of every file of the product and of `test/`, in the tree at `baseDir`. */
export async function checkImports(baseDir: string): Promise<ImportReport> {
	const result: IReporterOutput = await cruise(['src', ...Object.keys(beside), 'test'], {
		baseDir,
		validate: true,
		ruleSet: { forbidden: rules.map((rule) => ({ ...rule, severity: 'error' })) },
		parser: 'swc',
		tsPreCompilationDeps: true,
		doNotFollow: { path: 'node_modules' },
		// These programs import packages that only `npm run clients` installs.
		exclude: '^test/clients/scripts/',
		enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
	});
	if (typeof result.output === 'string') throw new TypeError(`dependency-cruiser did not report an object: ${result.output}`);
	const { summary } = result.output;
	return {
		moduleCount: result.output.modules.filter(({ source }) => new RegExp(`${product}|^test/`).test(source)).length,
		violations: summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`).toSorted(),
	};
}
