import { CommandFailure } from '../command-failure.ts';
import { type AdminFlags, readAdminFlags } from '../commands/command-options.ts';
import type { AdminApi, CliEnvironment } from '../environment.ts';
import { canStyle } from '../format-table.ts';
import { queryText, readRows, requestAdmin } from './admin-request.ts';
import { membersOf } from './fields.ts';
import { renderRecord, renderRows } from './render-record.ts';
import type { Resource, Row } from './resource.ts';

export type RecordFlags = AdminFlags & { readonly json?: true; readonly limit?: number } & Readonly<Record<string, unknown>>;

export async function listRecords({ path, list }: Resource, flags: RecordFlags, environment: CliEnvironment): Promise<number> {
	if (list === undefined) throw new Error(`${path} cannot be listed`);
	const max = flags.limit ?? list.defaultRows ?? Number.POSITIVE_INFINITY;
	const filters = membersOf(list.filters, flags);
	const { rows, hasMore } = await withAdmin(flags, environment, (api) => readRows(api, path, filters, max));
	await environment.stdout.write(flags.json ? jsonText(rows) : renderRows(list.columns, rows, canStyle(environment)));
	if (hasMore) await environment.stderr.write(`more than ${rows.length} entries: use --limit\n`);
	return 0;
}

export async function showRecord(
	resource: Resource,
	{ suffix, filters }: Resource['views'][string],
	id: string,
	flags: RecordFlags,
	environment: CliEnvironment,
): Promise<number> {
	const path = `${pathOf(resource, id)}${suffix}${queryText(membersOf(filters, flags))}`;
	const { body } = await withAdmin(flags, environment, (api) => requestAdmin(api, { method: 'GET', path }));
	return writeRecord(body, flags, environment);
}

export async function createRecord({ path, fields }: Resource, flags: RecordFlags, environment: CliEnvironment): Promise<number> {
	const request = { method: 'POST', path, body: membersOf(fields, flags) } as const;
	const { body } = await withAdmin(flags, environment, (api) => requestAdmin(api, request));
	return writeRecord(body, flags, environment);
}

/** Changes a record; one that somebody else changes at the same time stays as it is. */
export async function setRecord(resource: Resource, id: string, flags: RecordFlags, environment: CliEnvironment): Promise<number> {
	const { fields, isSetWhole = false } = resource;
	const changeable = fields.filter(({ isFixed }) => isFixed !== true);
	if (Object.keys(membersOf(changeable, flags)).length === 0) {
		throw new CommandFailure(1, `nothing to update: set one of ${changeable.map((field) => field.flags.split(' ')[0]).join(', ')}`);
	}
	const path = pathOf(resource, id);
	const { body } = await withAdmin(flags, environment, async (api) => {
		if (isSetWhole) return requestAdmin(api, { method: 'PUT', path, body: membersOf(changeable, flags) });
		const before = await requestAdmin(api, { method: 'GET', path });
		const headers = before.etag === undefined ? {} : { 'if-match': before.etag };
		return requestAdmin(api, { method: 'PUT', path, headers, body: membersOf(changeable, flags, before.body) });
	});
	return writeRecord(body, flags, environment);
}

export async function deleteRecord(resource: Resource, id: string, flags: AdminFlags, environment: CliEnvironment): Promise<number> {
	await withAdmin(flags, environment, (api) => requestAdmin(api, { method: 'DELETE', path: pathOf(resource, id) }));
	await environment.stderr.write(`${resource.name} ${id} deleted\n`);
	return 0;
}

export async function withAdmin<Result>(
	flags: AdminFlags,
	{ operations }: CliEnvironment,
	task: (api: AdminApi) => Promise<Result>,
): Promise<Result> {
	const api = await operations.openAdmin(readAdminFlags(flags));
	try {
		return await task(api);
	} finally {
		await api.close();
	}
}

function pathOf({ name, path, isPath = false }: Resource, id: string): string {
	if (!isPath) return `${path}/${encodeURIComponent(id)}`;
	const slash = id.indexOf('/');
	if (slash < 1 || slash === id.length - 1) {
		throw new CommandFailure(1, `a ${name} must be provider/model, such as provider_b/gpt-4o-mini`);
	}
	return `${path}/${encodeURIComponent(id.slice(0, slash))}/${encodeURIComponent(id.slice(slash + 1))}`;
}

async function writeRecord(record: Row, flags: RecordFlags, environment: CliEnvironment): Promise<number> {
	await environment.stdout.write(flags.json ? jsonText(record) : renderRecord(record, canStyle(environment)));
	return 0;
}

function jsonText(value: unknown): string {
	return `${JSON.stringify(value, null, 2)}\n`;
}
