import { expect, test } from 'vitest';
import { parseConfig } from './load.ts';
import { ConfigError } from './problem.ts';

function problemsOf(text: string): string[] {
	try {
		parseConfig(text, { file: '/gate.yaml', env: {} });
		return [];
	} catch (cause) {
		if (cause instanceof ConfigError) return cause.problems.map(({ line, path, message }) => `${line} ${path}: ${message}`);
		throw cause;
	}
}

const rules = (...lines: string[]): string => ['edge:', '  firewall:', '    rules:', ...lines.map((line) => `      ${line}`)].join('\n');

test('rules are taken by name', () => {
	expect(problemsOf(rules('SQLi_QUERYARGUMENTS: count', 'NoUserAgent_HEADER: block', "CrossSiteScripting_BODY: 'off'"))).toEqual([]);
});

test('an unknown rule is rejected, naming the nearest', () => {
	expect(problemsOf(rules('SQLi_BODY: count', 'CrossSiteScripting_QUERYARGUMENT: block', 'Nonsense: off'))).toEqual([
		'5 edge.firewall.rules.CrossSiteScripting_QUERYARGUMENT: Unknown rule `CrossSiteScripting_QUERYARGUMENT`. Did you mean `CrossSiteScripting_QUERYARGUMENTS`?',
		'6 edge.firewall.rules.Nonsense: Unknown rule `Nonsense`. See docs/reference/firewall-rules.md',
	]);
});

test('an unknown action is rejected', () => {
	expect(problemsOf(rules('SQLi_BODY: deny'))[0]).toMatch(/^4 edge\.firewall\.rules\.SQLi_BODY: must be/);
});
