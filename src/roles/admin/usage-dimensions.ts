/** Dimensions by which usage of all teams is grouped. */
import { attributeNamePattern } from '../../core/attributes.ts';
import { nearestName } from '../../core/nearest-name.ts';
import { otherAttributes, type SummaryKey, type SummaryName, type SummaryQuery } from '../../stores/contracts/ledger.ts';
import { fieldInvalid } from './fields-rejection.ts';
import { timeOf } from './schemas/values.ts';

export const intervals = ['hour', 'day', 'month'] as const;

type Interval = (typeof intervals)[number];

const dimensions = ['team', 'client', 'model', 'provider', 'endpoint', 'day'] as const;
const attributePrefix = 'attribute:';
/** Without `day`, which is an interval. */
const maxDimensions = 3;

/** Value of attributes that the sums do not distinguish. No attribute is likely to have it. */
const others = '(other)';

export interface UsageGrouping {
	readonly query: Pick<SummaryQuery, 'period' | 'by' | 'attributeNames'>;
	/** Columns that identify a row, always the same. */
	readonly columns: readonly string[];
	rowOf(key: SummaryKey): Record<string, string | null>;
}

type Values = (key: SummaryKey) => Record<string, string | null>;

interface Dimension {
	readonly names: readonly SummaryName[];
	readonly columns: readonly string[];
	readonly values: Values;
}

const known: Readonly<Record<Exclude<(typeof dimensions)[number], 'day'>, Dimension>> = {
	team: { names: ['team'], columns: ['team'], values: ({ team }) => ({ team }) },
	client: { names: ['clientId'], columns: ['client'], values: ({ clientId }) => ({ client: clientId }) },
	model: { names: ['provider', 'model'], columns: ['provider', 'model'], values: ({ provider, model }) => ({ provider, model }) },
	provider: { names: ['provider'], columns: ['provider'], values: ({ provider }) => ({ provider }) },
	endpoint: { names: ['endpoint'], columns: ['endpoint'], values: ({ endpoint }) => ({ endpoint: endpoint === '' ? null : endpoint }) },
};

/** @throws `FieldsRejection` `fields_invalid`. */
export function readGrouping(groupBy: string, interval: Interval | undefined): UsageGrouping {
	const named = [...new Set(groupBy.split(',').map((name) => name.trim()))];
	const isByDay = named.includes('day');
	if (isByDay && (interval ?? 'day') !== 'day') throw fieldInvalid('interval', 'must be day, or omitted, with `group_by=day`');
	const chosen = named.filter((name) => name !== 'day');
	if (chosen.length > maxDimensions) throw fieldInvalid('group_by', `must have at most ${maxDimensions} dimensions in addition to day`);
	const period = isByDay ? 'day' : (interval ?? 'all');
	const found = chosen.map(dimensionOf);
	const attributeNames = chosen.filter(isAttribute).map(attributeOf);
	return {
		query: { period, by: [...new Set(found.flatMap(({ names }) => names))], ...(attributeNames.length > 0 && { attributeNames }) },
		columns: [...new Set([...(period === 'all' ? [] : [period]), ...found.flatMap(({ columns }) => columns)])],
		rowOf(key) {
			const row: Record<string, string | null> = period === 'all' ? {} : { [period]: periodText(key.period, period) };
			for (const { values } of found) Object.assign(row, values(key));
			return row;
		},
	};
}

function periodText(name: string, period: Interval): string {
	return period === 'hour' ? timeOf(Date.parse(`${name}:00:00Z`)) : name;
}

function dimensionOf(name: string): Dimension {
	if (isKnown(name)) return known[name];
	if (!isAttribute(name)) throw unknownDimension(name);
	const attribute = attributeOf(name);
	if (!attributeNamePattern.test(attribute)) throw unknownDimension(name);
	return { names: ['attributes'], columns: [name], values: ({ attributes }) => ({ [name]: valueOf(attributes, attribute) }) };
}

function isKnown(name: string): name is keyof typeof known {
	return Object.hasOwn(known, name);
}

function isAttribute(name: string): boolean {
	return name.startsWith(attributePrefix);
}

function attributeOf(name: string): string {
	return name.slice(attributePrefix.length);
}

/** @param text attributes of a sum. @returns null if they have none of the name. */
function valueOf(text: string, name: string): string | null {
	if (text === '') return null;
	if (text === otherAttributes) return others;
	const attributes: unknown = JSON.parse(text);
	const found = Object.entries(attributes ?? {}).find(([one]) => one === name);
	return found === undefined ? null : String(found[1]);
}

function unknownDimension(name: string) {
	const nearest = nearestName(name, dimensions);
	const hint = nearest === undefined ? '' : `. Did you mean ${nearest}?`;
	return fieldInvalid(
		'group_by',
		`must name dimensions of ${dimensions.join(', ')}, attribute:NAME; ${JSON.stringify(name.slice(0, 64))} is none${hint}`,
	);
}
