/** Description of a resource of the admin API, from which its commands are built. */
import { type Field, text } from './fields.ts';

/** A member such as `limits.rpm`, or a function that returns the text to show. */
export type Column = readonly [heading: string, member: string | ((row: Row) => string)];

export type Row = Readonly<Record<string, unknown>>;

export interface Resource {
	readonly name: string;
	readonly description: string;
	/** A complete command line. */
	readonly example: string;
	readonly path: string;
	/** Name of the argument that identifies a record. */
	readonly argument: string;
	/** Undefined if the resource cannot be listed. */
	readonly list?: {
		readonly columns: readonly Column[];
		readonly filters: readonly Field[];
		readonly defaultRows?: number;
		readonly isDefault?: boolean;
	};
	/** Further read commands for one record, by name. */
	readonly views: Readonly<Record<string, { readonly description: string; readonly suffix: string; readonly filters: readonly Field[] }>>;
	readonly create?: string;
	readonly set?: string;
	readonly delete?: string;
	readonly fields: readonly Field[];
	/** True if every change replaces the whole record. */
	readonly isSetWhole?: boolean;
	/** True if the argument may contain slashes, which separate path segments. */
	readonly isPath?: boolean;
}

export const field = (flags: string, member: string, description: string, read: Field['read'] = text): Field => ({
	flags,
	member,
	description,
	read,
});

/** Members of a resource that commands only list. */
export const readOnly = { argument: 'id', views: {}, fields: [] };
