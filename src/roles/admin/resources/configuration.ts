import { z } from 'zod';
import type { HealthReport, ProviderReport } from '../../../core/health-report.ts';
import { joinReports } from '../../../policy/resilience/provider-health.ts';
import type { AdminDeps } from '../admin-deps.ts';
import type { AdminProvider } from '../admin-settings.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { named, time, timeOf } from '../schemas/values.ts';

const providerSchema = named(
	'Provider',
	z.strictObject({
		name: z.string(),
		kind: z.string(),
		configured: z.boolean().describe('False: the key is not set, and requests to the provider return 502.'),
		health: z.strictObject({
			state: z
				.enum(['healthy', 'unhealthy', 'unknown'])
				.describe('Health from live requests. `unhealthy`: at least one gateway process ejected it. `unknown`: no request yet.'),
			since: time.nullable().describe('Time of the last change; null: none.'),
			detail: z.string().nullable().describe('Last failure; null: none.'),
			gateways: z.int().min(0).describe('Gateway processes that reported within 30 seconds.'),
			ejected_by: z.int().min(0).describe('Gateway processes that ejected the provider.'),
		}),
	}),
);

const providerList = named('ProviderList', z.strictObject({ data: z.array(providerSchema), next_cursor: z.null() }));

const effectiveConfig = named('EffectiveConfig', z.record(z.string(), z.unknown()));

export function configurationOperations({ configured, providerReports, effectiveConfig: rendered }: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'GET',
			path: '/providers',
			access: { needs: 'read', team: 'denied' },
			tag: 'configuration',
			summary: 'List model providers and their health',
			success: { status: 200, schema: providerList },
			async run() {
				const reports = await providerReports();
				return { body: { data: configured().providers.map((provider) => providerBody(provider, reports)), next_cursor: null } };
			},
		}),
		defineOperation({
			method: 'GET',
			path: '/config',
			access: { needs: 'read', team: 'denied' },
			tag: 'configuration',
			summary: 'Get the active configuration without secrets',
			success: { status: 200, schema: effectiveConfig },
			run: () => ({ body: rendered() }),
		}),
	];
}

const notRequested: HealthReport = { state: 'unknown', sinceMs: null, detail: null };

function providerBody({ name, kind, isConfigured }: AdminProvider, reports: readonly ProviderReport[]): z.output<typeof providerSchema> {
	const { state, sinceMs, detail, ejectedBy } = joinReports(
		reports.map((report) => (Object.hasOwn(report, name) ? report[name] : undefined) ?? notRequested),
	);
	const since = sinceMs === null ? null : timeOf(sinceMs);
	return { name, kind, configured: isConfigured, health: { state, since, detail, gateways: reports.length, ejected_by: ejectedBy } };
}
