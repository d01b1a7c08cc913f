/** Explains how a request would be handled, decided by the stages of the inference path. Nothing is sent, counted, reserved or recorded. */
import { streamOf } from '../../core/byte-stream.ts';
import type { Clock } from '../../core/clock.ts';
import type { ClientDialectName } from '../../core/dialect-name.ts';
import type { HttpRequest } from '../../core/handler.ts';
import { formatUsd, formatUsdPerMillionTokens } from '../../core/money.ts';
import type { Price } from '../../core/price.ts';
import { Rejection } from '../../core/rejection.ts';
import type { Team } from '../../core/team.ts';
import { UpstreamError } from '../../core/upstream-error.ts';
import type { AccessTokenVerifier } from '../../policy/access/access-token-verifier.ts';
import { requireScope } from '../../policy/access/require-scope.ts';
import type { ContentScorer } from '../../policy/guardrails/content/content-scorer.ts';
import type { GuardrailSettings } from '../../policy/guardrails/guardrails.ts';
import { describeLimits, type LimitsBody } from '../../policy/limits/describe-limits.ts';
import type { LimitRejection } from '../../policy/limits/limit-rejection.ts';
import { checkReading } from '../../policy/limits/request-limits.ts';
import type { Targets } from '../../policy/routing/target.ts';
import type { AdmissionStore } from '../../stores/contracts/admission.ts';
import type { ResponseOwners } from '../../stores/contracts/response-owners.ts';
import { inferenceEndpoints } from '../../wire/endpoints/endpoints.ts';
import { differencesOf, type JsonDifference } from '../../wire/json/difference.ts';
import { type ExplainedAllowLists, explainAllowLists } from './explain-allow-lists.ts';
import { type ExplainedGuardrails, type ExplainedModerationProvider, evaluateExplained, guardrailsOff } from './explain-guardrails.ts';
import { type ExplainedRoute, explainRoute } from './explain-route.ts';
import { describeFailure } from './failure.ts';
import { assembleDeps, type GatewayDeps } from './gateway-deps.ts';
import type { GatewayPorts, GatewaySettings, TeamDirectory } from './gateway-settings.ts';
import { GuardrailRunner } from './guardrail-runner.ts';
import { portsWithoutEffect } from './ports-without-effect.ts';
import { admissionWarnings, bodyEditsOf } from './stages/admit-request.ts';
import { chooseTargets, isFirstChoice } from './stages/choose-targets.ts';
import { findStored } from './stages/find-stored.ts';
import { identifyCaller, identifyTeam } from './stages/identify-caller.ts';
import { type PreparedRequest, prepareRequest } from './stages/prepare-request.ts';
import { type InferenceRequest, readInferenceRequest } from './stages/read-inference-request.ts';
import { sizeOfPrepared } from './stages/request-size.ts';
import { type AdmissionTerms, rejectionOf, resolveAdmissionTerms } from './stages/resolve-admission-terms.ts';
import { bodyFor } from './stages/send-request.ts';
import { substituteFor } from './stages/substitute-model.ts';
import { canSkip } from './stages/take-target.ts';
import type { Sender } from './stages/terms-for-request.ts';
import type { ProviderTraffic } from './traffic-resolver.ts';

export interface ExplainedClient {
	readonly clientId: string;
	/** Scopes without the base; undefined for a client that only another issuer knows. */
	readonly scopeNames?: readonly string[] | undefined;
}

export interface ExplainRequest {
	/** Sender of the request: a client, any client of a team, or the owner of an access token. */
	readonly of: ExplainedClient | { readonly team: string } | { readonly accessToken: string };
	readonly format: ClientDialectName;
	/** Body as it would be sent. */
	readonly body: Buffer;
	/** Header fields by lower-case name. */
	readonly headers: Readonly<Record<string, string>>;
}

export interface ExplainPorts {
	readonly teams: TeamDirectory;
	readonly readCounters: AdmissionStore['read'];
	readonly responseOwners: Pick<ResponseOwners, 'find'>;
	readonly verifier: AccessTokenVerifier;
	/** State of a provider. Undefined in a process that does not send requests to it. */
	readonly trafficOf: ((provider: string) => Pick<ProviderTraffic, 'health' | 'isRateLimited'>) | undefined;
	/** Loads the content scorer on first use. By default, content is not scored. */
	readonly contentScorerFor?: (settings: GuardrailSettings) => ContentScorer | undefined;
	/** Moderation providers, which are listed but not requested. */
	readonly moderationProviders?: readonly ExplainedModerationProvider[];
	/** Without it, an explanation would report reasoning as dropped that the gateway returns to its provider. */
	readonly reasoningEncryption: GatewayPorts['reasoningEncryption'];
	readonly clock: Clock;
}

/** Fields in the order of the decisions; decisions that were not reached are null. Members have their names in the admin API. */
export interface Explanation {
	readonly outcome: ExplainedOutcome;
	readonly identity: { readonly client_id: string | null; readonly scopes: readonly string[] | null } | null;
	readonly team: { readonly id: string; readonly name: string; readonly tier: string; readonly is_registered: boolean } | null;
	readonly request: {
		readonly format: ClientDialectName;
		readonly model: string;
		readonly streaming: boolean;
		readonly bytes: number;
	} | null;
	readonly allow_lists: ExplainedAllowLists | null;
	readonly route: ExplainedRoute | null;
	readonly price: ExplainedPrice | null;
	readonly reservation: ExplainedReservation | null;
	readonly limits: LimitsBody | null;
	readonly guardrails: ExplainedGuardrails | null;
	readonly upstream: ExplainedUpstream | null;
}

export interface ExplainedOutcome {
	/** True if the request would be sent to the provider. */
	readonly admitted: boolean;
	/** Status of the error response; null if the request would be sent. */
	readonly status: number | null;
	readonly code: string | null;
	readonly message: string | null;
	readonly param: string | null;
}

export interface ExplainedPrice {
	readonly provider: string;
	readonly model: string;
	readonly version: string;
	readonly source: 'override' | 'default' | 'unknown';
	/** Price tiers. Each applies up to this number of input tokens; null: no limit. */
	readonly tiers: readonly {
		readonly up_to_input_tokens: number | null;
		readonly input_usd_per_million_tokens: string;
		readonly output_usd_per_million_tokens: string;
	}[];
}

export interface ExplainedReservation {
	readonly mode: 'estimate' | 'worst_case';
	readonly amount_usd: string;
	readonly input_tokens: number;
	readonly output_tokens: number;
	/** Output cap added to the request for a budget; null: none. */
	readonly cap_tokens: number | null;
}

export interface ExplainedUpstream {
	readonly translated: boolean;
	readonly warnings: readonly string[];
	readonly bytes: number;
	/** First differences between the given body and the body to send. */
	readonly differences: readonly JsonDifference[];
}

export type RequestExplainer = (request: ExplainRequest) => Promise<Explanation>;

const maxDifferences = 200;

/** @throws Error if the settings contradict each other. */
export function createExplainer(settings: GatewaySettings, ports: ExplainPorts): RequestExplainer {
	// Deferred: word lists are read when the first request is explained.
	const { guardrails: ruled, ...others } = settings;
	const { responseOwners } = ports;
	const inert = portsWithoutEffect(ports);
	const gatewayPorts: GatewayPorts = { ...inert, responseOwners: { ...inert.responseOwners, find: (ids) => responseOwners.find(ids) } };
	const deps = assembleDeps(others, gatewayPorts);
	let guardrailRunner: GuardrailRunner | undefined;
	const getGuardrailRunner = (): GuardrailRunner | undefined => {
		if (ruled === undefined) return undefined;
		guardrailRunner ??= new GuardrailRunner(ruled, { ...gatewayPorts, contentScorer: ports.contentScorerFor?.(ruled) });
		return guardrailRunner;
	};
	return async (request) => {
		const explained: Partial<Mutable<Explanation>> = {};
		let outcome: ExplainedOutcome = { admitted: true, status: null, code: null, message: null, param: null };
		try {
			await explain(request, explained, { ...deps, guardrailRunner: getGuardrailRunner() }, ports);
		} catch (cause) {
			if (!(cause instanceof Rejection || cause instanceof UpstreamError)) throw cause;
			const { status, code, message, param = null } = describeFailure(cause, '');
			outcome = { admitted: false, status, code, message, param };
		}
		const {
			identity = null,
			team = null,
			request: read = null,
			allow_lists = null,
			route = null,
			price = null,
			reservation = null,
			limits = null,
			guardrails = null,
			upstream = null,
		} = explained;
		return { outcome, identity, team, request: read, allow_lists, route, price, reservation, limits, guardrails, upstream };
	};
}

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

async function explain(
	{ of, format: formatName, body, headers }: ExplainRequest,
	explained: Partial<Mutable<Explanation>>,
	deps: GatewayDeps,
	ports: ExplainPorts,
): Promise<void> {
	const endpoint = inferenceEndpoints.find(({ dialect }) => dialect.name === formatName);
	if (endpoint === undefined) throw new Error(`${formatName} is not a client format`);
	const request = requestOf(body, endpoint.path, headers, of, ports.clock);
	const { clientId, scopes, team } = await identify(of, request, deps);
	explained.identity = { client_id: clientId, scopes };
	explained.team = { id: team.id, name: team.name, tier: team.tier, is_registered: ports.teams.team(team.id) !== undefined };
	const requested = await readInferenceRequest(request, endpoint, deps.settings);
	explained.request = { format: formatName, model: requested.model, streaming: requested.isStreaming, bytes: body.length };
	explained.allow_lists = explainAllowLists(requested, team, deps);
	const stored = await findStored(requested, team, deps);
	const inferenceRequest = await explainGuardrails(requested, team.id, explained, deps, ports);
	const targets = chooseTargets(inferenceRequest, team, deps, stored);
	explained.route = explainRoute({ inferenceRequest, team: team.id, stored, targets }, deps, ports);
	const sender = { team, clientId: clientId ?? '' };
	const first = prepareFirst(inferenceRequest, targets, team, deps);
	const rejection = await explainAdmission(requested, first, sender, explained, deps, ports);
	if (rejection === undefined) return;
	const substitute = stored === undefined ? substituteFor(rejection, inferenceRequest) : undefined;
	if (substitute === undefined) throw rejection;
	const others = chooseTargets(substitute, team, deps);
	const second = await explainAdmission(requested, prepareFirst(substitute, others, team, deps), sender, explained, deps, ports);
	if (second !== undefined) throw second;
}

/** Explains price, reservation, limits and body of the request to one target. @returns the rejection by a limit. */
async function explainAdmission(
	requested: InferenceRequest,
	prepared: PreparedRequest,
	sender: Sender,
	explained: Partial<Mutable<Explanation>>,
	deps: GatewayDeps,
	ports: ExplainPorts,
): Promise<LimitRejection | undefined> {
	const admission = resolveAdmissionTerms(prepared, sizeOfPrepared(prepared), sender, ports.clock.nowMs(), deps);
	const substituted = prepared.substitution === undefined ? [] : [prepared.substitution.warning];
	const warnings = [...substituted, ...prepared.warnings, ...admissionWarnings(admission, deps)];
	explained.price = describePrice(prepared, admission);
	explained.reservation = describeReservation(admission, deps);
	explained.upstream = describeUpstream(requested, prepared, admission, warnings);
	const { terms, reservations } = admission;
	const reading = await ports.readCounters(sender.team.id, reservations, terms.limits);
	explained.limits = describeLimits({ team: sender.team.id, ...terms }, reading);
	const rejected = checkReading(reading, terms.limits, reservations);
	return rejected && rejectionOf(rejected, admission);
}

async function explainGuardrails(
	requested: InferenceRequest,
	team: string,
	explained: Partial<Mutable<Explanation>>,
	{ guardrailRunner }: GatewayDeps,
	{ moderationProviders = [] }: ExplainPorts,
): Promise<InferenceRequest> {
	explained.guardrails = guardrailsOff;
	if (guardrailRunner === undefined) return requested;
	const { guardrails, pass } = await evaluateExplained(requested, team, guardrailRunner, moderationProviders);
	explained.guardrails = guardrails;
	return pass();
}

async function identify(
	of: ExplainRequest['of'],
	request: HttpRequest,
	deps: GatewayDeps,
): Promise<{ clientId: string | null; scopes: string[] | null; team: Team }> {
	const { settings, ports } = deps;
	if ('team' in of) {
		const team = ports.teams.team(of.team);
		if (team === undefined) throw new Rejection('record_unknown', { message: `Team \`${of.team}\` does not exist` });
		return { clientId: null, scopes: null, team };
	}
	if ('clientId' in of) {
		const scopes = of.scopeNames?.map((name) => `${settings.scopeBase}/${name}`);
		if (scopes !== undefined) requireScope({ scopes: new Set(scopes) }, deps.invokeScope);
		return { clientId: of.clientId, scopes: scopes ?? null, team: identifyTeam(of, settings, ports.teams) };
	}
	const caller = await identifyCaller(request, deps);
	return { clientId: caller.clientId, scopes: [...caller.scopes], team: identifyTeam(caller, settings, ports.teams) };
}

function requestOf(body: Buffer, path: string, headers: ExplainRequest['headers'], of: ExplainRequest['of'], clock: Clock): HttpRequest {
	return {
		id: '',
		method: 'POST',
		path,
		query: '',
		headers: { 'content-type': 'application/json', ...headers, ...('accessToken' in of && { authorization: `Bearer ${of.accessToken}` }) },
		body: streamOf(body.length === 0 ? [] : [body]),
		announcedLength: body.length,
		peerAddress: '',
		arrivedMs: clock.monotonicMs(),
		onClientDisconnect: () => undefined,
	};
}

/** Skips targets like the inference path, before any was tried. */
function prepareFirst(inferenceRequest: InferenceRequest, targets: Targets, team: Team, deps: GatewayDeps): PreparedRequest {
	for (const target of targets) {
		try {
			return prepareRequest(inferenceRequest, target, team.id, deps);
		} catch (cause) {
			const isFirst = (): boolean => isFirstChoice(inferenceRequest, target, team, deps);
			if (!canSkip(cause, false, target === targets.at(-1), isFirst)) throw cause;
		}
	}
	throw new Error('routing named no target');
}

function describePrice({ target }: PreparedRequest, { priced }: AdmissionTerms): ExplainedPrice {
	const { price, isUnknown, overrides } = priced;
	const source = isUnknown ? 'unknown' : overrides === undefined ? 'default' : 'override';
	return { provider: target.provider, model: target.model, version: price.version, source, tiers: price.tiers.map(describeTier) };
}

function describeTier({ upToInputTokens, inputPicoUsd, outputPicoUsd }: Price['tiers'][number]): ExplainedPrice['tiers'][number] {
	return {
		up_to_input_tokens: upToInputTokens,
		input_usd_per_million_tokens: formatUsdPerMillionTokens(inputPicoUsd),
		output_usd_per_million_tokens: formatUsdPerMillionTokens(outputPicoUsd),
	};
}

function describeReservation({ need }: AdmissionTerms, { settings }: GatewayDeps): ExplainedReservation {
	return {
		mode: settings.budgets.reservation,
		amount_usd: formatUsd(need.amountNanoUsd),
		input_tokens: need.inputTokens,
		output_tokens: need.outputTokens,
		cap_tokens: need.isOutputCapped || need.areCallsCapped ? need.capTokens : null,
	};
}

function describeUpstream(
	requested: InferenceRequest,
	prepared: PreparedRequest,
	{ need }: AdmissionTerms,
	warnings: readonly string[],
): ExplainedUpstream {
	const sent = bodyFor(prepared, bodyEditsOf(prepared, need));
	const given = requested.body.bytes;
	const differences = sent.equals(given) ? [] : differencesOf(JSON.parse(String(given)), JSON.parse(String(sent)), maxDifferences);
	return { translated: prepared.translated !== undefined, warnings, bytes: sent.length, differences };
}
