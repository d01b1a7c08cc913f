/** Every setting, its default and its meaning. An empty file is a valid configuration. */
import { z } from 'zod';
import { access, auth } from './sections/auth.ts';
import { edge } from './sections/edge.ts';
import { gateway } from './sections/gateway.ts';
import { guardrails } from './sections/guardrails.ts';
import { admin, identity, simulator } from './sections/identity.ts';
import { providers } from './sections/providers.ts';
import { requests } from './sections/requests.ts';
import { responses } from './sections/responses.ts';
import { routing } from './sections/routing.ts';
import { stores } from './sections/stores.ts';
import { budgets, teams, tiers } from './sections/teams.ts';
import { webhooks } from './sections/webhooks.ts';
import { listen, nonEmpty, restart } from './values.ts';

const metrics = z.strictObject({
	listen: listen
		.nullable()
		.default(null)
		.meta(restart('Separate address that serves `GET /metrics` without authentication; null: the admin address only.')),
	team_label: z.boolean().default(false).describe('Adds a team label to requests, tokens and cost; unregistered teams share `other`.'),
});

const log = z.strictObject({
	level: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('Minimum level of log lines.'),
	format: z
		.enum(['auto', 'json', 'text'])
		.default('auto')
		.meta(restart('Format of log lines. `auto` is text on a terminal and JSON otherwise.')),
});

export const configSchema = z.strictObject({
	enable_admin_api: z.boolean().default(false).meta(restart('Serves the admin API.')),
	enable_guardrails: z.boolean().default(false).describe('Evaluates requests and responses with guardrails.'),
	enforce_guardrails: z.boolean().default(false).describe('Blocks or masks on a match; otherwise a match is only logged.'),
	enable_budgets: z.boolean().default(true).describe('Enforces budgets.'),
	repair_parameters: z
		.union([z.enum(['on', 'off']), z.boolean()], { error: 'must be on or off' })
		.default('on')
		.describe(
			'Renames (`max_tokens`) or drops (`temperature`, `top_p`, `top_k`) parameters that the model rejects, if client and provider use the same format; `x-gateway-warnings` names them.',
		),
	roles: z
		.array(z.enum(['edge', 'gateway', 'admin', 'identity', 'simulator']))
		.min(1)
		.refine((names) => new Set(names).size === names.length, 'must not name a role twice')
		.default(['edge', 'gateway', 'admin', 'identity'])
		.meta(restart('Roles that this process runs.')),
	data_dir: nonEmpty.default('.tollgate').meta(restart('Directory of the embedded stores, relative to the working directory.')),
	log: log.prefault({}).describe('The log on standard output.'),
	edge: edge.prefault({}).describe('The edge: firewall, per-address rate limit, token check, load balancing.'),
	gateway: gateway.prefault({}).describe('The gateway: the inference endpoints.'),
	admin: admin.prefault({}).describe('The admin API.'),
	identity: identity.prefault({}).describe('The embedded issuer of access tokens.'),
	simulator: simulator.prefault({}).describe('Fake providers for trials and tests.'),
	metrics: metrics.prefault({}).describe('Prometheus metrics.'),
	auth: auth.prefault({}).describe('Access tokens that are accepted.'),
	access: access.prefault({}).describe('Scopes and teams by claims of access tokens.'),
	stores: stores.prefault({}).describe('Where records, ledger and counters are stored.'),
	requests: requests.prefault({}).describe('Records of requests, for lookups.'),
	tiers: tiers.prefault({}).describe('Limits of teams by tier. Built-in tiers can be changed field by field; a new tier needs all fields.'),
	teams: teams.prefault({}).describe('Teams and unregistered clients.'),
	providers: providers.prefault({}).describe('Model providers by name. The four built-in ones can be changed field by field.'),
	routing: routing.prefault({}).describe('Routing of requests to providers.'),
	responses: responses.prefault({}).describe('State of the Responses API at providers.'),
	guardrails: guardrails.prefault({}).describe('Guardrail policies.'),
	budgets: budgets.prefault({}).describe('Enforcement of budgets.'),
	webhooks: webhooks.describe('Receivers of events, such as budget warnings.'),
});

/** A complete, validated configuration, with the names of the file. Deeply frozen; its objects have no prototype. */
export type Config = Frozen<z.output<typeof configSchema>>;

export type ProviderConfig = Config['providers'][string];
export type ProviderKind = ProviderConfig['kind'];

type Frozen<Value> = Value extends object ? { readonly [Key in keyof Value]: Frozen<Value[Key]> } : Value;
