import { expect, test } from 'vitest';
import { contentAt, gambling, guardrailsWith, piiRules } from '../../../test/support/guarded-gateway.ts';
import type { GuardrailSettings } from './guardrails.ts';
import { isEnforcedFor } from './rule-actions.ts';

const moderation = { name: 'mod', action: 'block' } as const;
const word = ['words.listed'];

test.each<[string, Partial<GuardrailSettings>, readonly (typeof moderation)[], boolean]>([
	['without enforcement', { isEnforced: false }, [], false],
	['with no monitored rule', {}, [], true],
	['with the only rule monitored', { monitored: word }, [], false],
	['with another rule enforced', { monitored: word, topics: [gambling] }, [], true],
	['with all rules monitored', { monitored: [...word, 'topics.gambling'], topics: [gambling] }, [], false],
	['with another rule that only logs', { monitored: word, pii: piiRules('log') }, [], false],
	['with another rule that masks', { monitored: word, pii: piiRules('none', { email: 'mask' }) }, [], true],
	['with content that is not scored', { monitored: word, content: contentAt('none') }, [], false],
	['with content that is scored', { monitored: word, content: contentAt('medium') }, [], true],
	['with unreadable content blocked', { monitored: word, unreadable: 'block' }, [], true],
	['with an enforced moderation provider', { monitored: word }, [moderation], true],
	['with a monitored moderation provider', { monitored: [...word, 'moderation.mod'] }, [moderation], false],
	['with the enforced rule off for the team', { monitored: word, topics: [gambling], teams: { red: { topics: 'none' } } }, [], false],
	['with an enforced rule for the team', { monitored: word, teams: { red: { 'pii.email': 'mask' } } }, [], true],
])('guardrails %s', (_title, settings, moderationProviders, expected) => {
	expect(isEnforcedFor('red', guardrailsWith(settings), moderationProviders)).toBe(expected);
});
