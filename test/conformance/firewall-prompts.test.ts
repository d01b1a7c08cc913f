import { it } from 'vitest';
import { expectNoPromptBlocked } from '../support/firewall-prompts.ts';
import { describeOwn, useSubject } from './subject.ts';

describeOwn('prompts of code, SQL, HTML, shell and attack strings', 'our simulator', () => {
	const plain = useSubject();
	it('150 of them, 1 to 512 KB: none blocked', () => expectNoPromptBlocked(plain.current, 150));
});

describeOwn('the same with every rule for bodies set to block', 'a configuration of its own', () => {
	const rules = Object.fromEntries(
		['CrossSiteScripting', 'SQLi', 'GenericLFI', 'UNIXShellCommandsVariables', 'PHPHighRiskMethodsVariables', 'SizeRestrictions'].map(
			(family) => [`${family}_BODY`, 'block'],
		),
	);
	const watching = useSubject({ edge: { firewall: { rules } } });
	it('50 of them: none blocked', () => expectNoPromptBlocked(watching.current, 50));
});
