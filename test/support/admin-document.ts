/** OpenAPI document of a running admin API, against which responses are validated. */
import { z } from 'zod';

type Json = Readonly<Record<string, unknown>>;

export interface AdminResponse {
	readonly status: number;
	readonly headers: Headers;
	readonly text: string;
	/** Body as JSON; undefined if it is not JSON. */
	readonly body: JsonBody;
}

/** Body of an unspecified type, as tests read it. */
export type JsonBody = Readonly<Record<string, unknown>>;

export interface DocumentedOperation {
	readonly method: string;
	readonly path: string;
	readonly isPublic: boolean;
	/** Scopes of which one is enough. */
	readonly scopes: readonly string[];
	readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Json }[];
	/** Schema of the JSON body, with internal references; undefined if there is none. */
	readonly body: Json | undefined;
	readonly statuses: readonly string[];
}

export interface AdminDocument {
	readonly operations: readonly DocumentedOperation[];
	/** @throws Error for a response that is not documented. */
	check(method: string, path: string, response: AdminResponse): void;
}

interface Operation {
	readonly security?: readonly { readonly bearer: readonly string[] }[];
	readonly parameters?: DocumentedOperation['parameters'];
	readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
	readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Json }>> }>>;
}

export async function readAdminDocument(baseUrl: string): Promise<AdminDocument> {
	const source = (await (await fetch(`${baseUrl}/openapi.json`)).text()).replaceAll('#/components/schemas/', '#/$defs/');
	const document = JSON.parse(source) as {
		readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
		readonly components: { readonly schemas: Json };
	};
	const whole = (schema: Json): Json => ({ ...schema, $defs: document.components.schemas });
	const validators = new Map<string, z.ZodType>();
	const validatorOf = (schema: Json): z.ZodType => {
		const key = JSON.stringify(schema);
		const validator = validators.get(key) ?? z.fromJSONSchema(whole(schema));
		validators.set(key, validator);
		return validator;
	};
	const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
	);
	const find = (method: string, path: string): Operation | undefined => {
		const wanted = method === 'HEAD' ? 'GET' : method;
		return operations.find((one) => one.method === wanted && patternOf(one.path).test(path.split('?', 1)[0] ?? ''))?.operation;
	};
	return {
		operations: operations.map(({ method, path, operation }) => ({
			method,
			path,
			isPublic: operation.security === undefined,
			scopes: (operation.security ?? []).flatMap(({ bearer }) => bearer),
			parameters: operation.parameters ?? [],
			body: operation.requestBody && whole(operation.requestBody.content['application/json']?.schema ?? {}),
			statuses: Object.keys(operation.responses),
		})),
		check(method, path, { status, headers, text, body }) {
			const operation = find(method, path);
			const where = `${method} ${path} ${status}`;
			const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
			if (operation === undefined) {
				if (status < 400 || type !== 'application/problem+json') throw new Error(`${where} is not documented`);
				return;
			}
			const response = operation.responses[status];
			if (response === undefined) throw new Error(`${where}: the status is not documented: ${text}`);
			const schema = response.content?.[type]?.schema;
			if (response.content === undefined ? text !== '' : schema === undefined) throw new Error(`${where}: ${type} is not documented`);
			if (method === 'HEAD' || schema === undefined || !type.endsWith('json')) return;
			const result = validatorOf(schema).safeParse(body);
			if (!result.success) throw new Error(`${where}: ${z.prettifyError(result.error)}\n${text}`);
		},
	};
}

function patternOf(path: string): RegExp {
	return new RegExp(
		`^${path
			.replaceAll('.', '\\.')
			.replace('{model}', '.+')
			.replace(/\{\w+\}/g, '[^/]+')}$`,
	);
}
