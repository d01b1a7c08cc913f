import { describe, expect, it } from 'vitest';
import { changeToml, renderToml, type TomlSettings } from './toml-settings.ts';

const settings: TomlSettings = {
	keys: { model_provider: 'tollgate' },
	tables: [
		{ path: ['model_providers', 'tollgate'], keys: { name: 'Tollgate', base_url: 'http://gateway/v1' } },
		{ path: ['model_providers', 'tollgate', 'auth'], keys: { command: 'a "b"', args: ['token', '--x'], refresh_interval_ms: 5 } },
	],
};

const tables = `[model_providers.tollgate]
name = "Tollgate"
base_url = "http://gateway/v1"

[model_providers.tollgate.auth]
command = "a \\"b\\""
args = ["token", "--x"]
refresh_interval_ms = 5
`;
const complete = `model_provider = "tollgate"\n\n${tables}`;

describe('settings in TOML', () => {
	it('are complete without a file, and the same as printed', () => {
		expect(changeToml(undefined, settings)).toEqual({ text: complete, replaced: [] });
		expect(renderToml(settings)).toBe(complete);
	});

	it('stay as they are if the file has them', () => {
		expect(changeToml(complete, settings)).toEqual({ text: complete, replaced: [] });
	});

	it('join the other settings of a file, whose bytes stay', () => {
		const first =
			'# My settings\r\nmodel = "gpt-5.4" # a comment\nnotify = [\n  "a]", # not the end\n  \'[b\',\n]\ntext = """\n[not.a.table]\nmodel_provider = "no"\n"""\n';
		const rest =
			'\n[projects."/home/me"]\ntrust_level = \'trusted\'\n\n[model_providers.other]\nmodel_provider = 1\nname = { a = [1, {}] }';
		expect(changeToml(first + rest, settings)).toEqual({
			text: `${first}model_provider = "tollgate"\n${rest}\n\n${tables}`,
			replaced: [],
		});
	});

	it('come before the first table of a file without other keys', () => {
		expect(changeToml('[tui]\nx = 1\n', settings).text).toBe(`model_provider = "tollgate"\n\n[tui]\nx = 1\n\n${tables}`);
	});

	it('replace earlier values of their own, and keep further keys of their tables', () => {
		const before = `model_provider = "openai"\n[ model_providers . "tollgate" ]\nbase_url = "http://old/v1" # old\nquery_params = { a = "b" }\n[tui]\n`;
		const { text, replaced } = changeToml(before, settings);
		expect(replaced).toEqual(['model_provider', 'model_providers.tollgate.base_url']);
		expect(text).toBe(
			'model_provider = "tollgate"\n[ model_providers . "tollgate" ]\nname = "Tollgate"\nbase_url = "http://gateway/v1"\n' +
				`query_params = { a = "b" }\n[tui]\n\n${tables.slice(tables.indexOf('[model_providers.tollgate.auth]'))}`,
		);
		expect(changeToml(text, settings)).toEqual({ text, replaced: [] });
	});

	it.each([
		['model_providers = { other = {} }\n', 'line 1 sets model_providers '],
		['\nmodel_providers.tollgate.name = "x"\n', 'line 2 sets model_providers.tollgate.name '],
		['[model_providers]\ntollgate = { name = "x" }\n', 'line 2 sets model_providers.tollgate '],
		['[model_providers.tollgate]\nauth.command = "x"\n', 'line 2 sets model_providers.tollgate.auth.command '],
	])('are not added next to another form of the same table: %j', (before, message) => {
		expect(() => changeToml(before, settings)).toThrow(message);
	});

	it('are not added to a text that is not TOML', () => {
		expect(() => changeToml('a = 1\n{"json": true}\n', settings)).toThrow('line 2 of the file is not TOML');
	});
});
