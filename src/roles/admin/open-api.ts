/** The OpenAPI 3.1 document, generated from the operations and the schemas that serve them. */
import { z } from 'zod';
import { type RejectionCode, rejections } from '../../core/rejection.ts';
import { upstreamErrors } from '../../core/upstream-error.ts';
import type { Operation } from './operation.ts';
import { problem } from './problem-responses.ts';
import { schemaNames } from './schemas/values.ts';
import { scopesFor } from './team-access.ts';

type Json = Readonly<Record<string, unknown>>;

export interface OpenApiDocument {
	readonly openapi: '3.1.0';
	readonly info: Json;
	readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
	readonly components: Json & { readonly schemas: Readonly<Record<string, Json>> };
}

export function describeOperations(
	operations: readonly Operation[],
	{ version, scopeBase }: { version: string; scopeBase: string },
): OpenApiDocument {
	const paths: Record<string, Record<string, Json>> = {};
	for (const operation of operations) {
		(paths[operation.path] ??= {})[operation.method.toLowerCase()] = describeOperation(operation, scopeBase);
	}
	return {
		openapi: '3.1.0',
		info: { title: 'Tollgate admin API', version, description: 'Teams, budgets, prices, usage and clients of an LLM gateway.' },
		paths,
		components: {
			securitySchemes: {
				bearer: {
					type: 'http',
					scheme: 'bearer',
					bearerFormat: 'JWT',
					description: `An access token with one of the scopes of the operation.`,
				},
			},
			schemas: componentSchemas(),
		},
	};
}

function componentSchemas(): Record<string, Json> {
	const { schemas } = z.toJSONSchema(schemaNames, { uri: refOf, io: 'input' });
	return Object.fromEntries(
		Object.entries(schemas).map(([name, { $schema: _schema, $id: _id, ...schema }]: [string, Json]) => [name, schema]),
	);
}

function refOf(name: string): string {
	return `#/components/schemas/${name}`;
}

function reference(schema: z.ZodType): Json {
	const name = schemaNames.get(schema)?.id;
	if (name === undefined) throw new Error('a schema of the admin API has no name');
	return { $ref: refOf(name) };
}

function describeOperation(operation: Operation, scopeBase: string): Json {
	const { method, path, tag, summary, description, access, body, isBodyOptional = false } = operation;
	const parameters = [...parametersOf(operation.params, 'path'), ...parametersOf(operation.query, 'query'), ...headersOf(operation)];
	return {
		operationId: `${method.toLowerCase()}${path.replace(/[^A-Za-z]+([A-Za-z]?)/g, (_, letter: string) => letter.toUpperCase())}`,
		tags: [tag],
		summary,
		...(description !== undefined && { description }),
		...(typeof access !== 'string' && { security: scopesFor(access).map((name) => ({ bearer: [`${scopeBase}/${name}`] })) }),
		...(parameters.length > 0 && { parameters }),
		...(body !== undefined && { requestBody: { required: !isBodyOptional, content: { 'application/json': { schema: reference(body) } } } }),
		responses: responsesOf(operation),
	};
}

function parametersOf(schema: z.ZodObject, place: 'path' | 'query'): Json[] {
	const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
	return Object.entries(properties).map(([name, property]) => {
		const { description, ...rest } = property as Json;
		const isRequired = required.includes(name);
		return { name, in: place, required: isRequired, ...(description !== undefined && { description }), schema: rest };
	});
}

function headersOf({ method, success, rejections: codes }: Operation): Json[] {
	const header = (name: string, description: string): Json => ({
		name,
		in: 'header',
		required: false,
		description,
		schema: { type: 'string' },
	});
	return [
		...(codes.includes('record_stale') ? [header('if-match', '`etag` of the version to change.')] : []),
		...(method === 'POST' && success.status !== 204
			? [header('idempotency-key', 'Returns the first response again for the same key and body within 24 hours.')]
			: []),
	];
}

function responsesOf(operation: Operation): Json {
	const { status, schema, otherTypes = [], otherStatuses = [], hasEntityTag } = operation.success;
	const content = {
		...(schema !== undefined && { 'application/json': { schema: reference(schema) } }),
		...Object.fromEntries(otherTypes.map((type) => [type, { schema: { type: 'string' } }])),
	};
	const headers = {
		...(hasEntityTag === true && { etag: { schema: { type: 'string' } } }),
		...(status === 201 && { location: { schema: { type: 'string' } } }),
	};
	const success = {
		description: 'Done.',
		...(Object.keys(content).length > 0 && { content }),
		...(Object.keys(headers).length > 0 && { headers }),
	};
	const problems = Map.groupBy(problemCodes(operation), (code) => statusOf(code));
	const responses: Record<string, Json> = {};
	for (const [one, codes] of problems) {
		const description = codes.map((code) => `\`${code}\``).join(', ');
		responses[one] = { description, content: { 'application/problem+json': { schema: reference(problem) } } };
	}
	for (const one of [status, ...otherStatuses]) responses[one] = success;
	return responses;
}

type ProblemCode = RejectionCode | 'records_unavailable' | 'key_set_unavailable' | 'internal_error';

function statusOf(code: ProblemCode): number {
	if (code === 'internal_error') return 500;
	return code === 'records_unavailable' || code === 'key_set_unavailable' ? upstreamErrors[code].status : rejections[code].status;
}

/** Lists all rejections of the operation, ordered by status. */
function problemCodes({ method, access, query, body, rejections: own }: Operation): ProblemCode[] {
	const codes: ProblemCode[] = ['http_malformed', 'internal_error', 'fields_invalid', ...own];
	if (access !== 'health') codes.push('admin_rate_exceeded');
	if (typeof access !== 'string') {
		codes.push('token_missing', 'token_invalid', 'scope_missing', 'records_unavailable', 'key_set_unavailable');
		// Records of other teams.
		if (access.team !== 'denied' && access.team !== 'shared' && !own.includes('record_unknown')) codes.push('record_unknown');
	}
	if (method !== 'GET') codes.push('body_timeout', 'body_too_large', 'media_type_unsupported', 'content_encoding_unsupported');
	if (body !== undefined) codes.push('body_not_json', 'body_not_utf8', 'body_too_deep', 'field_invalid');
	if (method === 'POST') codes.push('idempotency_key_reused');
	const isFree = Object.keys(query.shape).length === 0 && body === undefined;
	return codes
		.filter((code) => !(isFree && typeof access === 'string' && code === 'fields_invalid'))
		.toSorted((one, other) => statusOf(one) - statusOf(other));
}
