/** Bounds the distinct attributes in the sums of a team and UTC day, over all processes. */
import { type RawBuilder, sql } from 'kysely';
import { dayNumberOf } from '../../../core/day-number.ts';
import { maxAttributesPerDay } from '../../contracts/ledger.ts';
import type { SpooledEntry } from '../../contracts/ledger-spool.ts';
import { plainArray, textArray } from './array-literal.ts';
import { indexedName } from './indexed-name.ts';
import type { Database } from './ledger-days.ts';

interface AttributeSet {
	readonly day: number;
	readonly team: string;
	readonly attributes: string;
}

/** Adds new attributes to those that the sums distinguish. @returns a function that is true for rows summed as others. */
export async function findOtherAttributes(transaction: Database, rows: readonly SpooledEntry[]): Promise<(row: SpooledEntry) => boolean> {
	const sets = new Map(rows.filter(([, , , , , , , , , , , , attributes]) => attributes !== '').map((row) => [keyOf(row), setOf(row)]));
	if (sets.size === 0) return () => false;
	const unknown = await findUnknown(transaction, [...sets.values()]);
	if (unknown.length === 0) return () => false;
	await addSets(transaction, unknown);
	const others = new Set((await findUnknown(transaction, unknown)).map(keyOfSet));
	return (row) => row[12] !== '' && others.has(keyOf(row));
}

function setOf(row: SpooledEntry): AttributeSet {
	return { day: dayNumberOf(row[1]), team: indexedName(row[2]), attributes: row[12] };
}

function keyOf(row: SpooledEntry): string {
	return keyOfSet(setOf(row));
}

function keyOfSet({ day, team, attributes }: AttributeSet): string {
	return JSON.stringify([day, team, attributes]);
}

async function findUnknown(transaction: Database, sets: readonly AttributeSet[]): Promise<readonly AttributeSet[]> {
	const { rows } = await sql<AttributeSet>`
		SELECT given.day, given.team, given.attributes FROM ${given(sets)}
		WHERE NOT EXISTS (
			SELECT 1 FROM tollgate.ledger_attribute_sets AS known WHERE known.day = given.day AND known.team = given.team
				AND tollgate.ledger_attributes_key(known.attributes) = tollgate.ledger_attributes_key(given.attributes)
		)`.execute(transaction);
	return rows;
}

/** Adds as many as fit. One transaction at a time, so that concurrent ones do not exceed the maximum. */
async function addSets(transaction: Database, sets: readonly AttributeSet[]): Promise<void> {
	await sql`SELECT pg_advisory_xact_lock(hashtextextended('tollgate ledger attributes', 0))`.execute(transaction);
	await sql`
		WITH given AS (SELECT * FROM ${given(sets)}), counts AS (
			SELECT day, team, count(*) AS count FROM tollgate.ledger_attribute_sets
			WHERE (day, team) IN (SELECT day, team FROM given) GROUP BY day, team
		), numbered AS (
			SELECT given.*, row_number() OVER (PARTITION BY given.day, given.team ORDER BY given.attributes) + coalesce(count, 0) AS place
			FROM given LEFT JOIN counts USING (day, team)
		)
		INSERT INTO tollgate.ledger_attribute_sets (day, team, attributes)
		SELECT day, team, attributes FROM numbered WHERE place <= ${maxAttributesPerDay} ON CONFLICT DO NOTHING`.execute(transaction);
}

function given(sets: readonly AttributeSet[]): RawBuilder<unknown> {
	const days = plainArray(sets.map(({ day }) => day));
	const texts = (name: 'team' | 'attributes'): string => textArray(sets.map((set) => set[name]));
	return sql`unnest(${days}::int4[], ${texts('team')}::text[], ${texts('attributes')}::text[]) AS given (day, team, attributes)`;
}
