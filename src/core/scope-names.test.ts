import { expect, test } from 'vitest';
import { isAdminScope, isScopeName, scopeOfTeam, teamOfScope } from './scope-names.ts';

test.each(['invoke', 'admin', 'admin:read', 'admin:write', 'admin:secrets', 'admin:team:red', 'admin:team:a.b_c-1'])(
	'%s is a scope',
	(name) => {
		expect([isScopeName(name), isAdminScope(name)]).toEqual([true, name !== 'invoke']);
	},
);

test.each([
	'',
	'Admin',
	'admin ',
	'admin:',
	'admin:all',
	'admin:readonly',
	'admin:team',
	'admin:team:',
	'admin:team:..',
	'admin:team:Red',
	'admin:team:red admin',
	'admin:team:red\n',
	`admin:team:${'x'.repeat(65)}`,
	'tollgate/admin',
	'constructor',
])('%j is no scope', (name) => {
	expect(isScopeName(name)).toBe(false);
});

test('a scope names the team that it was made for', () => {
	expect(teamOfScope(scopeOfTeam('red'))).toBe('red');
	expect(teamOfScope('admin:read')).toBeUndefined();
});
