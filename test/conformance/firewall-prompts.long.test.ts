import { it } from 'vitest';
import { expectNoPromptBlocked } from '../support/firewall-prompts.ts';
import { describeOwn, useSubject } from './subject.ts';

describeOwn('prompts of code, SQL, HTML, shell and attack strings', 'our simulator', () => {
	const subject = useSubject();
	it('20,000 of them, 1 to 512 KB: none blocked', () => expectNoPromptBlocked(subject.current, 20_000));
});
