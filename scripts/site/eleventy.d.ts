/** Types of the generator as far as the site's build uses it; the package has none. */
declare module '@11ty/eleventy' {
	import type MarkdownIt from 'markdown-it';

	interface Page {
		readonly inputPath: string;
		readonly filePathStem: string;
		readonly rawInput: string;
	}

	export interface UserConfig {
		setQuietMode(isQuiet: boolean): void;
		setTemplateFormats(formats: readonly string[]): void;
		setUseGitIgnore(isUsed: boolean): void;
		setLibrary(format: 'md', library: MarkdownIt): void;
		addGlobalData(name: string, value: unknown): void;
		addPassthroughCopy(paths: Readonly<Record<string, string>>): void;
		addTransform(name: string, transform: (this: { readonly page: Page }, content: string) => string): void;
	}

	export interface EleventyOptions {
		readonly configPath: null;
		readonly config: (config: UserConfig) => object;
	}

	export default class Eleventy {
		constructor(input: string, output: string, options: EleventyOptions);
		write(): Promise<void>;
	}
}
