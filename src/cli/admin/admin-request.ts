import { CommandFailure } from '../command-failure.ts';
import type { AdminApi, AdminRequest } from '../environment.ts';
import { plainText } from './plain-text.ts';
import type { Row } from './resource.ts';

/** An error response of the API. */
export class AdminRejection extends CommandFailure {
	override readonly name = 'AdminRejection';
	readonly status: number;

	constructor(status: number, message: string) {
		super(isOwnMistake(status) ? 1 : 2, message);
		this.status = status;
	}
}

export interface AdminResponse {
	readonly body: Row;
	readonly etag: string | undefined;
}

/**
 * Sends a request, and turns an error response into a message for the user.
 * @throws AdminRejection; CommandFailure 2 for a response that does not come from an admin API.
 */
export async function requestAdmin(api: AdminApi, request: AdminRequest): Promise<AdminResponse> {
	const { status, headers, text } = await api.request(request);
	if (status === 204) return { body: {}, etag: undefined };
	const body = readObject(text);
	if (body === undefined) throw new CommandFailure(2, `${api.name} returned ${status} without a JSON object: is this the admin API?`);
	if (status >= 400) throw new AdminRejection(status, describeProblem(status, body));
	return { body, etag: headers['etag'] };
}

const rowsOfPage = 1000;

/** Reads page by page. @param max maximum number of rows. */
export async function readRows(api: AdminApi, path: string, filters: Row, max: number): Promise<{ rows: Row[]; hasMore: boolean }> {
	const rows: Row[] = [];
	let cursor: unknown;
	for (;;) {
		const limit = Math.min(rowsOfPage, max - rows.length);
		const query = queryText({ ...filters, limit, ...(typeof cursor === 'string' && { cursor }) });
		const { body } = await requestAdmin(api, { method: 'GET', path: `${path}${query}` });
		rows.push(...(body['data'] as Row[]));
		cursor = body['next_cursor'];
		if (typeof cursor !== 'string' || rows.length >= max) return { rows, hasMore: typeof cursor === 'string' };
	}
}

export function queryText(query: Readonly<Record<string, unknown>>): string {
	const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
	return search.size === 0 ? '' : `?${search.toString()}`;
}

function isOwnMistake(status: number): boolean {
	return status < 500 && status !== 408 && status !== 429;
}

/** Prints one line for each invalid field. */
function describeProblem(status: number, { title, detail, code, errors }: Row): string {
	const fields = Array.isArray(errors) ? (errors as { path?: unknown; message?: unknown }[]) : [];
	const what = plainText(fields.length > 0 ? title : (detail ?? title ?? 'refused'));
	const lines = fields.map(({ path, message }) => `\n  ${path === '' ? 'the body' : plainText(path)}: ${plainText(message)}`);
	return `${what} (${status} ${plainText(code ?? 'unknown')})${lines.join('')}`;
}

function readObject(text: string): Row | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : undefined;
	} catch {
		return undefined;
	}
}
