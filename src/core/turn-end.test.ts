import { expect, test } from 'vitest';
import { tellTurnEnd, uncorkAtTurnEnd } from './turn-end.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('listeners are told once, in order, before anything leaves, however late in the turn they come', async () => {
	const happened: string[] = [];
	uncorkAtTurnEnd({ uncork: () => happened.push('first leaves') });
	tellTurnEnd({ onTurnEnd: () => happened.push('first is told') });
	uncorkAtTurnEnd({ uncork: () => happened.push('second leaves') });
	await Promise.resolve();
	tellTurnEnd({ onTurnEnd: () => happened.push('second is told') });
	expect(happened).toEqual([]);
	await nextTurn();
	expect(happened).toEqual(['first is told', 'second is told', 'first leaves', 'second leaves']);
	await nextTurn();
	expect(happened).toHaveLength(4);
});

test('what comes while a turn ends is of the next one', async () => {
	const happened: string[] = [];
	tellTurnEnd({
		onTurnEnd() {
			uncorkAtTurnEnd({ uncork: () => happened.push('late leaves') });
			tellTurnEnd({ onTurnEnd: () => happened.push('late is told') });
		},
	});
	uncorkAtTurnEnd({ uncork: () => happened.push('leaves') });
	await nextTurn();
	expect(happened).toEqual(['leaves']);
	await nextTurn();
	expect(happened).toEqual(['leaves', 'late is told', 'late leaves']);
});
