import { z } from 'zod';
import { type HealthReport, type ProviderReport, rateLimitKinds } from '../../../core/health-report.ts';
import { joinRateLimits, joinReports } from '../../../policy/resilience/provider-health.ts';
import type { AdminDeps } from '../admin-deps.ts';
import type { AdminProvider } from '../admin-settings.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { pageOf, pageQuery, sortUsageRows, takePage } from '../page.ts';
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
		rate_limits: z
			.array(
				z.strictObject({
					model: z.string(),
					kind: z.enum(rateLimitKinds).describe('`retry_after`: a 429 demanded to wait until `resets_at`.'),
					limit: z.int().min(0).nullable().describe('Null: not reported.'),
					remaining: z.int().min(0),
					resets_at: time.nullable().describe('Null: not reported.'),
					reported_at: time.describe('Time of the response that reported it.'),
				}),
			)
			.describe('Limits of the account at the provider, as responses of the last hour report them.'),
	}),
);

const providerList = named('ProviderList', pageOf(providerSchema));

const effectiveConfig = named('EffectiveConfig', z.record(z.string(), z.unknown()));

export function configurationOperations({ configured, providerReports, effectiveConfig: rendered }: AdminDeps): Operation[] {
	return [
		defineOperation({
			method: 'GET',
			path: '/providers',
			access: { needs: 'read', team: 'denied' },
			tag: 'configuration',
			summary: 'List model providers, their health and their rate limits',
			query: z.strictObject({ ...pageQuery }),
			success: { status: 200, schema: providerList },
			async run({ query }) {
				const reports = await providerReports();
				const providers = sortUsageRows(configured().providers, ({ name }) => name);
				return { body: takePage(providers, query, (provider) => providerBody(provider, reports)) };
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
	const ofProvider = reports.map((report) => (Object.hasOwn(report, name) ? report[name] : undefined) ?? notRequested);
	const { state, sinceMs, detail, ejectedBy } = joinReports(ofProvider);
	const since = sinceMs === null ? null : timeOf(sinceMs);
	return {
		name,
		kind,
		configured: isConfigured,
		health: { state, since, detail, gateways: reports.length, ejected_by: ejectedBy },
		rate_limits: joinRateLimits(ofProvider).map(({ model, kind: ofLimit, limit, remaining, resetsAtMs, reportedAtMs }) => ({
			model,
			kind: ofLimit,
			limit,
			remaining,
			resets_at: resetsAtMs === null ? null : timeOf(resetsAtMs),
			reported_at: timeOf(reportedAtMs),
		})),
	};
}
