import { z } from 'zod';
import type { AdminParts } from '../admin-parts.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { named, time, timeOf } from '../schemas/values.ts';

const provider = named(
	'Provider',
	z.strictObject({
		name: z.string(),
		kind: z.string(),
		configured: z.boolean().describe('False: its key is the placeholder, and calls to it are answered 502.'),
		health: z.strictObject({
			state: z.enum(['healthy', 'unhealthy', 'unknown']),
			since: time.nullable(),
			detail: z.string().nullable(),
		}),
	}),
);

const providerList = named('ProviderList', z.strictObject({ data: z.array(provider), next_cursor: z.null() }));

const effectiveConfig = named('EffectiveConfig', z.record(z.string(), z.unknown()));

export function configurationOperations({ configured, effectiveConfig: shown }: AdminParts): Operation[] {
	return [
		defineOperation({
			method: 'GET',
			path: '/providers',
			tag: 'configuration',
			summary: 'Model providers and how they are',
			success: { status: 200, schema: providerList },
			run: () => ({ body: { data: configured().providers.map(providerBody), next_cursor: null } }),
		}),
		defineOperation({
			method: 'GET',
			path: '/config',
			tag: 'configuration',
			summary: 'The configuration in force, without its secrets',
			success: { status: 200, schema: effectiveConfig },
			run: () => ({ body: shown() }),
		}),
	];
}

function providerBody({
	name,
	kind,
	isConfigured,
	health,
}: ReturnType<AdminParts['configured']>['providers'][number]): z.output<typeof provider> {
	const { state, sinceMs, detail } = health();
	return { name, kind, configured: isConfigured, health: { state, since: sinceMs === null ? null : timeOf(sinceMs), detail } };
}
