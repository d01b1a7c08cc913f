import { describe, expect, test } from 'vitest';
import { fixedScopeNames } from '../../core/scope-names.ts';
import { includesScope, isAdministrator, readAdminRights } from './admin-rights.ts';

const all = [...fixedScopeNames, 'admin:team:red', 'admin:team:blue'];

describe('a scope includes', () => {
	test.each([
		[['admin'], all],
		[['invoke'], ['invoke']],
		[['admin:read'], ['invoke', 'admin:read']],
		[['admin:write'], ['invoke', 'admin:read', 'admin:write']],
		[['admin:secrets'], ['invoke', 'admin:secrets']],
		[['admin:team:red'], ['invoke', 'admin:team:red']],
		[
			['admin:read', 'admin:secrets'],
			['invoke', 'admin:read', 'admin:secrets'],
		],
		[['admin:write', 'admin:secrets'], all.filter((name) => name !== 'admin')],
	])('%j: %j', (names, included) => {
		const rights = readAdminRights(names);
		expect(all.filter((name) => includesScope(rights, name))).toEqual(included);
	});
});

test.each(['', 'admin:', 'admin:team:', 'admin:team:..', 'Admin', 'admin:readonly', 'constructor', '__proto__', 'invoke'])(
	'%j makes no administrator, and only a full administrator could grant it',
	(name) => {
		expect(isAdministrator(readAdminRights([name]))).toBe(false);
		if (name !== 'invoke') expect(includesScope(readAdminRights(all.filter((one) => one !== 'admin')), name)).toBe(false);
	},
);
