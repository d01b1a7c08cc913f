/** One method at one address: what it takes, what it answers, and what it may refuse. Served and documented from this alone. */
import { z } from 'zod';
import type { RefusalCode } from '../../core/refusal.ts';
import type { Author } from '../../stores/contracts/records.ts';

export interface Operation {
	readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
	/** As in OpenAPI, such as `/teams/{id}`; the last parameter of `/pricing/{provider}/{model}` may hold slashes. */
	readonly path: string;
	/** Under which heading it is documented. */
	readonly tag: string;
	readonly summary: string;
	readonly description?: string;
	/** `public` needs no access token, and `health` is not counted either: balancers ask for it all the time. */
	readonly access: 'admin' | 'public' | 'health';
	readonly params: z.ZodObject;
	readonly query: z.ZodObject;
	/** Undefined: none is read. */
	readonly body: z.ZodType | undefined;
	/** True: an empty body is an empty object. */
	readonly isBodyOptional?: boolean;
	readonly success: Success;
	/** Beside those that every operation may refuse. */
	readonly refusals: readonly RefusalCode[];
	run(call: Call<unknown, unknown, unknown>): Promise<Answer>;
}

export interface Success {
	readonly status: 200 | 201 | 204;
	/** Of the JSON body; undefined: none. */
	readonly schema?: z.ZodType;
	/** Media types beside, or in place of, JSON. */
	readonly otherTypes?: readonly string[];
	/** With the same body. */
	readonly otherStatuses?: readonly number[];
	/** True: the answer has an `etag`. */
	readonly hasEntityTag?: boolean;
}

export interface Call<Params, Query, Body> {
	readonly params: Params;
	readonly query: Query;
	readonly body: Body;
	/** As received. */
	readonly ifMatch: string | undefined;
	/** Asks for CSV and not for JSON. */
	readonly wantsCsv: boolean;
	/** Who is told to the audit log. */
	readonly author: Author;
}

export interface Answer {
	readonly headers?: Readonly<Record<string, string>>;
	/** Sent as JSON; undefined: no body, unless there is `text`. */
	readonly body?: unknown;
	/** Sent as it is, with its `content-type` among the headers. */
	readonly text?: string;
	/** In place of the operation's own. */
	readonly status?: number;
}

type Definition<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> = Omit<
	Operation,
	'access' | 'params' | 'query' | 'body' | 'refusals' | 'run'
> & {
	readonly access?: 'public' | 'health';
	readonly params?: Params;
	readonly query?: Query;
	readonly body?: Body;
	readonly refusals?: readonly RefusalCode[];
	run(call: Call<z.output<Params>, z.output<Query>, z.output<Body>>): Promise<Answer> | Answer;
};

const nothing = z.strictObject({});

export function defineOperation<
	Params extends z.ZodObject = typeof nothing,
	Query extends z.ZodObject = typeof nothing,
	Body extends z.ZodType = z.ZodUndefined,
>(definition: Definition<Params, Query, Body>): Operation {
	const { access = 'admin', params = nothing, query = nothing, body, refusals = [] } = definition;
	return {
		...definition,
		access,
		params,
		query,
		body,
		refusals,
		run: async (call) => definition.run(call as Call<z.output<Params>, z.output<Query>, z.output<Body>>),
	};
}
