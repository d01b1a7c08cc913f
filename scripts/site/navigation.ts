import { globSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../prose/files.ts';

export interface Section {
	readonly title: string;
	/** Pages without `.md`, from `docs/`, in the order of the sidebar. `*` stands for the pages of a folder that no other entry names. */
	readonly pages: readonly string[];
}

/** Sections of the sidebar. Every page of `docs/` belongs to one; the build fails otherwise. */
export const sections: readonly Section[] = [
	{
		title: 'Get started',
		pages: ['index', 'start/install', 'start/first-request', 'start/configuration', 'start/first-provider', 'start/first-team-and-budget'],
	},
	{
		title: 'Guides',
		pages: [
			'guide/client',
			'guide/tokens',
			'guide/call-models',
			'guide/responses-api',
			'guide/select-provider',
			'guide/allowed-models',
			'guide/providers',
			'guide/configuration',
			'guide/rate-limits',
			'guide/budgets',
			'guide/rejections',
			'guide/prices',
			'guide/usage',
			'guide/guardrails',
			'guide/moderation-providers',
			'guide/firewall',
			'guide/clients-and-secrets',
			'guide/signing-keys',
			'guide/identity-provider',
			'guide/administrators',
			'guide/provider-failures',
			'guide/*',
		],
	},
	{
		title: 'Client programs',
		pages: [
			'guide/clients/index',
			'guide/clients/proxy',
			'guide/clients/claude-code',
			'guide/clients/codex',
			'guide/clients/opencode',
			'guide/clients/openai-sdk',
			'guide/clients/anthropic-sdk',
			'guide/clients/ai-sdk',
			'guide/clients/langchain',
			'guide/clients/openai-agents',
			'guide/clients/pydantic-ai',
			'guide/clients/litellm',
			'guide/clients/llm',
		],
	},
	{ title: 'Concepts', pages: ['concepts/overview', 'concepts/*'] },
	{ title: 'Operations', pages: ['operations/deploy', 'operations/*'] },
	{ title: 'Reference', pages: ['reference/configuration', 'reference/errors', 'reference/cli', 'reference/metrics', 'reference/*'] },
	{ title: 'Recipes', pages: ['recipes/*'] },
	{ title: 'Decisions', pages: ['decisions/README', 'decisions/*'] },
];

export interface ResolvedSection {
	readonly title: string;
	/** Files from the root of the repository. */
	readonly files: readonly string[];
}

/** Resolves the sections to the pages that exist. @throws Error if a page belongs to none or to several, or an entry names no page. */
export function resolveSections(
	listed: readonly Section[] = sections,
	files: readonly string[] = globSync('docs/**/*.md', { cwd: root }),
): ResolvedSection[] {
	const named = listed.flatMap(({ pages }) => pages).map((page) => join('docs', `${page}.md`));
	const resolved = listed.map(({ title, pages }) => ({
		title,
		files: pages.flatMap((page) => {
			const path = join('docs', `${page}.md`);
			if (!page.endsWith('*')) return path;
			const folder = path.slice(0, -'*.md'.length);
			return files.filter((file) => file.startsWith(folder) && !named.includes(file)).toSorted();
		}),
	}));
	const all = resolved.flatMap((section) => section.files);
	const problems = [
		...files.filter((file) => !all.includes(file)).map((file) => `${file} is in no section`),
		...all.filter((file, index) => all.indexOf(file) !== index).map((file) => `${file} is in two sections`),
		...all.filter((file) => !files.includes(file)).map((file) => `${file} does not exist`),
	];
	if (problems.length > 0) throw new Error(`scripts/site/navigation.ts: ${problems.join('; ')}`);
	return resolved.filter((section) => section.files.length > 0);
}
