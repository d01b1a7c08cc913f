import { ownTurn } from '../../core/own-turn.ts';
import { atOnce, type Steps } from '../../core/steps.ts';

/** One of 1 MB is read, translated and written in some milliseconds each. */
const largeBodyBytes = 256 * 1024;

export function isLargeBody(bodyBytes: number): boolean {
	return bodyBytes > largeBodyBytes;
}

/** Does what is to be done with a body; for a large one, others have their turn after each step. */
export function inTurns<Result>(bodyBytes: number, steps: Steps<Result>): Result | Promise<Result> {
	return isLargeBody(bodyBytes) ? turnByTurn(steps) : atOnce(steps);
}

async function turnByTurn<Result>(steps: Steps<Result>): Promise<Result> {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
		await ownTurn();
	}
}
