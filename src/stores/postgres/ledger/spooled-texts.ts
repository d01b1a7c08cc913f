/** Decodes rows that the spool's threads pass as JSON text to the sending thread. */
import { type Assessment, assessmentActions, assessmentOutcomes, assessmentStages } from '../../contracts/assessments.ts';
import { requestOutcomes } from '../../contracts/ledger.ts';
import type { SpooledEntry } from '../../contracts/ledger-spool.ts';
import { booleanFrom, itemsFrom, membersFrom, numberFrom, oneOf, orNull, textFrom } from '../../decode.ts';

const textOrNull = orNull(textFrom);
const numberOrNull = orNull(numberFrom);
const booleanOrNull = orNull(booleanFrom);
const outcomeOrNull = orNull(oneOf(requestOutcomes));

export function spooledEntryFrom(value: unknown): SpooledEntry {
	const columns = itemsFrom(value);
	return [
		textFrom(columns[0]),
		numberFrom(columns[1]),
		textFrom(columns[2]),
		textFrom(columns[3]),
		textFrom(columns[4]),
		textFrom(columns[5]),
		textFrom(columns[6]),
		booleanFrom(columns[7]),
		textFrom(columns[8]),
		textFrom(columns[9]),
		textFrom(columns[10]),
		textFrom(columns[11]),
		textFrom(columns[12]),
		outcomeOrNull(columns[13]),
		numberOrNull(columns[14]),
		numberOrNull(columns[15]),
		booleanOrNull(columns[16]),
		numberOrNull(columns[17]),
		numberOrNull(columns[18]),
		numberOrNull(columns[19]),
		numberOrNull(columns[20]),
		numberOrNull(columns[21]),
		numberOrNull(columns[22]),
		textOrNull(columns[23]),
	];
}

const stageFrom = oneOf(assessmentStages);
const actionFrom = oneOf(assessmentActions);
const outcomeFrom = oneOf(assessmentOutcomes);

export function assessmentFrom(value: unknown): Assessment {
	const { requestId, atMs, team, stage, policy, category, action, outcome, count } = membersFrom(value);
	return {
		requestId: textFrom(requestId),
		atMs: numberFrom(atMs),
		team: textFrom(team),
		stage: stageFrom(stage),
		policy: textFrom(policy),
		category: textFrom(category),
		action: actionFrom(action),
		outcome: outcomeFrom(outcome),
		count: numberFrom(count),
	};
}
