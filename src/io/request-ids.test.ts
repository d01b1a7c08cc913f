import { expect, test } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { createRequestIds } from './request-ids.ts';

test('ids are well formed, never repeat, across generators too, and sort by time', () => {
	const clock = new ManualClock();
	const makers = [createRequestIds(clock), createRequestIds(clock)];
	const ids: string[] = [];
	for (let index = 0; index < 2000; index++) {
		if (index % 100 === 0) clock.advance(1);
		for (const make of makers) ids.push(make());
	}
	expect(new Set(ids).size).toBe(ids.length);
	for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{32}$/);
	const times = ids.map((id) => id.slice(0, 16));
	expect(times).toEqual(times.toSorted());
	expect(Number.parseInt(ids[0]?.slice(4, 16) ?? '', 16)).toBe(Date.UTC(2026, 0, 1) + 1);
});
