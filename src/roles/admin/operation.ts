/** One method at one path: its input, its response and its rejections. Routes and documentation derive from it. */
import { z } from 'zod';
import type { RejectionCode } from '../../core/rejection.ts';
import type { Author } from '../../stores/contracts/records.ts';
import type { AdminAccess, Authority } from './team-access.ts';

export interface Operation {
	readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
	/** Path as in OpenAPI, such as `/teams/{id}`. The last parameter of `/pricing/{provider}/{model}` may contain slashes. */
	readonly path: string;
	/** Heading in the documentation. */
	readonly tag: string;
	readonly summary: string;
	readonly description?: string;
	/** `public` needs no access token. `health` is also exempt from rate limits, because load balancers poll it. */
	readonly access: AdminAccess | 'public' | 'health';
	readonly params: z.ZodObject;
	readonly query: z.ZodObject;
	/** Undefined if no body is read. */
	readonly body: z.ZodType | undefined;
	/** True: an empty body is an empty object. */
	readonly isBodyOptional?: boolean;
	readonly success: Success;
	/** Rejections in addition to those of every operation. */
	readonly rejections: readonly RejectionCode[];
	run(call: OperationCall<unknown, unknown, unknown>): Promise<CsvResponse>;
}

export interface Success {
	readonly status: 200 | 201 | 204;
	/** Schema of the JSON body; undefined: none. */
	readonly schema?: z.ZodType;
	/** Media types in addition to, or instead of, JSON. */
	readonly otherTypes?: readonly string[];
	/** Other statuses with the same body. */
	readonly otherStatuses?: readonly number[];
	/** True: the response has an `etag`. */
	readonly hasEntityTag?: boolean;
}

export interface OperationCall<Params, Query, Body> {
	readonly params: Params;
	readonly query: Query;
	readonly body: Body;
	/** `if-match` as received. */
	readonly ifMatch: string | undefined;
	/** True if the response should be CSV, not JSON. */
	readonly wantsCsv: boolean;
	/** Author of a change, for the audit log. */
	readonly author: Author;
	readonly authority: Authority;
}

export interface CsvResponse {
	readonly headers?: Readonly<Record<string, string>>;
	/** Sent as JSON; undefined: no body, except `text`. */
	readonly body?: unknown;
	/** Sent unchanged; `headers` contains its `content-type`. */
	readonly text?: string;
	/** Overrides the operation's status. */
	readonly status?: number;
}

type Definition<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> = Omit<
	Operation,
	'params' | 'query' | 'body' | 'rejections' | 'run'
> & {
	readonly params?: Params;
	readonly query?: Query;
	readonly body?: Body;
	readonly rejections?: readonly RejectionCode[];
	run(call: OperationCall<z.output<Params>, z.output<Query>, z.output<Body>>): Promise<CsvResponse> | CsvResponse;
};

const nothing = z.strictObject({});

export function defineOperation<
	Params extends z.ZodObject = typeof nothing,
	Query extends z.ZodObject = typeof nothing,
	Body extends z.ZodType = z.ZodUndefined,
>(definition: Definition<Params, Query, Body>): Operation {
	const { params = nothing, query = nothing, body, rejections = [] } = definition;
	return {
		...definition,
		params,
		query,
		body,
		rejections,
		run: async (call) => definition.run(call as OperationCall<z.output<Params>, z.output<Query>, z.output<Body>>),
	};
}
