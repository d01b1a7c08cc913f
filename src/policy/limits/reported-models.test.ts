import { describe, expect, it } from 'vitest';
import { maxUnlistedModels, ReportedModels } from './reported-models.ts';

const b = (model: string) => ({ provider: 'b', model });

function fill(reported: ReportedModels, team: string, month: string): void {
	for (let index = 0; index < maxUnlistedModels; index++) expect(reported.nameOf(team, month, b(`m${index}`))).toBe(`m${index}`);
}

describe('models that no list has', () => {
	it('are reported by name up to the bound, and together beyond it', () => {
		const reported = new ReportedModels();
		fill(reported, 'red', '2026-11');
		expect(reported.nameOf('red', '2026-11', b('one more'))).toBe('other');
		expect(reported.nameOf('red', '2026-11', b('one more'), 'gpt-4o')).toBe('gpt-4o');
		expect(reported.nameOf('red', '2026-11', b('m7'))).toBe('m7');
		expect(reported.nameOf('red', '2026-11', { provider: 'c', model: 'm7' })).toBe('other');
	});

	it('are counted for each team and month by itself', () => {
		const reported = new ReportedModels();
		fill(reported, 'red', '2026-11');
		expect(reported.nameOf('blue', '2026-11', b('x'))).toBe('x');
		fill(reported, 'red', '2026-12');
		// The request began before midnight.
		expect(reported.nameOf('red', '2026-11', b('late'))).toBe('other');
		expect(reported.nameOf('red', '2026-12', b('m0'))).toBe('m0');
	});

	it('are one where the 256 characters that the ledger keeps are the same', () => {
		const reported = new ReportedModels();
		const same = 'm'.repeat(256);
		for (let index = 1; index < maxUnlistedModels; index++) reported.nameOf('red', '2026-11', b(`m${index}`));
		reported.nameOf('red', '2026-11', b(same));
		expect(reported.nameOf('red', '2026-11', b(`${same}n`))).toBe(`${same}n`);
		expect(reported.nameOf('red', '2026-11', b(`${same.slice(1)}n`))).toBe('other');
	});

	it('are the same after a restart', () => {
		const reported = new ReportedModels();
		for (let index = 0; index < maxUnlistedModels; index++) reported.restore('red', '2026-11', b(`m${index}`));
		expect(reported.nameOf('red', '2026-11', b('new'))).toBe('other');
		expect(reported.nameOf('red', '2026-11', b('m3'))).toBe('m3');
	});
});
