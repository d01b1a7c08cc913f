/** Pages of the log of deliveries, newest first. A cursor is the sequence number of its page's last delivery. */
import { type Delivery, type DeliveryPage, type DeliveryQuery, deliveryStates } from './contracts/webhook-deliveries.ts';
import { oneOf } from './decode.ts';
import { integerOf, integerOrNullOf, type Row, textOf, textOrNullOf } from './row.ts';

const maxDeliveries = 1000;
const cursorPattern = /^[1-9]\d{0,15}$/;

/** @param before sequence number. @returns at most `count` rows before it. */
export type DeliveryReading = (before: number, count: number) => Promise<readonly Row[]>;

/** @throws RangeError for a cursor that no page returned. */
export async function readDeliveryPage({ limit, cursor }: DeliveryQuery, readRows: DeliveryReading): Promise<DeliveryPage> {
	if (cursor !== undefined && !cursorPattern.test(cursor)) throw new RangeError(`${JSON.stringify(cursor)} is not a valid cursor`);
	const size = Math.max(1, Math.min(limit, maxDeliveries));
	const found = await readRows(cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor), size + 1);
	const rows = found.slice(0, size);
	const last = rows.at(-1);
	return {
		deliveries: rows.map(deliveryOf),
		nextCursor: found.length > size && last !== undefined ? String(integerOf(last, 'sequence')) : null,
	};
}

const stateFrom = oneOf(deliveryStates);

export function deliveryOf(row: Row): Delivery {
	return {
		webhook: textOf(row, 'webhook'),
		eventId: textOf(row, 'event_id'),
		event: textOf(row, 'event'),
		body: textOf(row, 'body'),
		createdMs: integerOf(row, 'created_ms'),
		keptUntilMs: integerOf(row, 'kept_until_ms'),
		state: stateFrom(row['state']),
		attempts: integerOf(row, 'attempts'),
		lastAttemptMs: integerOrNullOf(row, 'last_attempt_ms'),
		nextAttemptMs: integerOrNullOf(row, 'next_attempt_ms'),
		status: integerOrNullOf(row, 'status'),
		error: textOrNullOf(row, 'error'),
	};
}
