import { expect, onTestFinished, test } from 'vitest';
import { agent, formOf, startIdentity, timeInOrder } from '../../../test/support/identity.ts';
import { defaultScryptCost } from '../../stores/contracts/client-secret.ts';

test('over 2,000 tries an unknown client takes as long as a wrong secret, within 5 per cent', async () => {
	const subject = await startIdentity({ maxAttemptsPerMinute: 1_000_000, secretCost: defaultScryptCost });
	onTestFinished(() => subject.stop());
	const guess = (id: string) => async (index: number) => (await subject.post(formOf({ id, secret: `wrong ${index}` }))).text();
	const [wrongMs, unknownMs] = await timeInOrder(2000, guess(agent.id), guess('nobody'));
	expect(Math.abs(wrongMs - unknownMs) / wrongMs).toBeLessThan(0.05);
});
