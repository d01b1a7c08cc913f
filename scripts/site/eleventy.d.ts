/** Types of the generator as far as the site's build uses it; the package has none. */
declare module '@11ty/eleventy' {
	import type MarkdownIt from 'markdown-it';

	export interface Page {
		/** Relative to the working directory. */
		readonly inputPath: string;
	}

	export interface UserConfig {
		setQuietMode(isQuiet: boolean): void;
		setTemplateFormats(formats: readonly string[]): void;
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
