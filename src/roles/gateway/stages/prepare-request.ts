import { type CooperativeTask, runSynchronously } from '../../../core/cooperative-task.ts';
import type { DialectName } from '../../../core/dialect-name.ts';
import { Rejection } from '../../../core/rejection.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import { measureInput } from '../../../policy/budgets/estimate.ts';
import { maxOutputTokensOf } from '../../../policy/budgets/model-output-limits.ts';
import type { Target } from '../../../policy/routing/target.ts';
import type { ModelCapabilities } from '../../../wire/conversation/model-capabilities.ts';
import type { ResponseContext } from '../../../wire/conversation/response.ts';
import type { ResponseTranslation } from '../../../wire/conversation/translation.ts';
import type { ClientDialect, Dialect } from '../../../wire/dialects/dialect.ts';
import { dialects } from '../../../wire/dialects/dialects.ts';
import type { Estimate } from '../../../wire/endpoints/endpoint.ts';
import { type JsonBody, WrittenBody } from '../../../wire/json/parse-body.ts';
import type { Provider } from '../../../wire/providers/provider.ts';
import { type Repair, repairingSteps } from '../../../wire/repair-parameters.ts';
import { responseTranslation, translateRequest } from '../../../wire/translate.ts';
import { removeVendorFieldsSteps } from '../../../wire/vendor-fields.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { type InferenceRequest, locatedMembers } from './read-inference-request.ts';
import { targetDialect } from './target-dialect.ts';

interface TranslatedPart {
	readonly translation: ResponseTranslation;
	readonly inferenceRequest: ResponseContext;
	/** Replaces the client's header fields. */
	readonly headers: Readonly<Record<string, string>>;
}

/** A request as its provider receives it. */
export interface PreparedRequest extends InferenceRequest {
	readonly target: Target;
	readonly provider: Provider;
	/** Vendor's name of the target's model, which determines price and caps. */
	readonly knownAs: string;
	/** Output limit of the model; undefined if unknown. */
	readonly maxOutputTokens: number | undefined;
	/** Operator's output cap per choice for requests without one. Undefined if the client set a cap, or there is none. */
	readonly defaultCapTokens: number | undefined;
	/** Wire dialect of the provider. */
	readonly providerFormat: Dialect;
	/** Body to send, except for later edits. */
	readonly outgoing: JsonBody;
	/** Sent instead of `outgoing`, with all edits. Undefined unless the provider rejected the first body. */
	readonly repairedBytes?: Buffer;
	/** Undefined if client and provider use the same dialect. */
	readonly translated: TranslatedPart | undefined;
	/** Dropped or changed fields, reported to the client. */
	readonly warnings: readonly string[];
	/** Replaces the response of a provider that does not serve the endpoint. */
	readonly estimate: Estimate | undefined;
}

const none: readonly string[] = [];

/**
 * Prepares the common case, a request that is forwarded unchanged, without steps.
 * @returns undefined for other requests.
 * @throws errors of `preparingSteps`.
 */
export function passOn(inferenceRequest: InferenceRequest, target: Target, team: string, deps: GatewayDeps): PreparedRequest | undefined {
	const provider = providerFor(inferenceRequest, target, deps);
	const isTranslated = dialectFor(inferenceRequest, provider, target, deps) !== inferenceRequest.format.name;
	const hasVendorFields = inferenceRequest.format.vendorFields.canBeIn(inferenceRequest.body.members);
	if (isTranslated || hasVendorFields || inferenceRequest.endpoint.estimateFor(provider) !== undefined) return undefined;
	const read = readTarget(inferenceRequest, target, team, deps);
	return repairFor(inferenceRequest, read, provider, deps) === undefined
		? untranslated(inferenceRequest, read, provider, inferenceRequest.body)
		: undefined;
}

/** Properties of a target's model that affect the request. */
interface ReadTarget extends Pick<PreparedRequest, 'target' | 'knownAs' | 'maxOutputTokens' | 'defaultCapTokens'> {
	readonly said: ModelCapabilities;
}

function readTarget(inferenceRequest: InferenceRequest, target: Target, team: string, deps: GatewayDeps): ReadTarget {
	const hasCap = inferenceRequest.format.requestedOutput(inferenceRequest.body.members).capTokens !== undefined;
	return readModel(target, team, hasCap, deps);
}

/** @param hasCap true if the client limits the output. */
export function readModel(
	target: Target,
	team: string,
	hasCap: boolean,
	{ modelCapabilities, defaultOutputCaps }: GatewayDeps,
): ReadTarget {
	const said = modelCapabilities.of(target);
	const knownAs = said.knownAs ?? target.model;
	const maxOutputTokens = said.maxOutputTokens ?? maxOutputTokensOf(knownAs);
	const defaultCapTokens = hasCap ? undefined : defaultOutputCaps.capOf(team, target.model, knownAs);
	return { target, said, knownAs, maxOutputTokens, defaultCapTokens };
}

/**
 * Selects the provider and builds the request for it. Runs in steps, because each takes milliseconds for a large body.
 * @throws `Rejection` `field_invalid`, `thread_unsupported_request`; `UpstreamError` `provider_key_unset`.
 */
export function* preparingSteps(
	inferenceRequest: InferenceRequest,
	target: Target,
	team: string,
	deps: GatewayDeps,
): CooperativeTask<PreparedRequest> {
	const provider = providerFor(inferenceRequest, target, deps);
	const read = readTarget(inferenceRequest, target, team, deps);
	const { said, knownAs, maxOutputTokens, defaultCapTokens } = read;
	const estimate = inferenceRequest.endpoint.estimateFor(provider);
	if (estimate !== undefined) {
		return { ...untranslated(inferenceRequest, read, provider, inferenceRequest.body, [estimate.warning]), estimate };
	}
	const dialect = dialectFor(inferenceRequest, provider, target, deps);
	if (dialect === inferenceRequest.format.name) {
		const { vendorFields } = inferenceRequest.format;
		const { body, warnings } = yield* removeVendorFieldsSteps(inferenceRequest.body, vendorFields, knownAs, locatedMembers);
		const repair = repairFor(inferenceRequest, read, provider, deps);
		if (repair === undefined) return untranslated(inferenceRequest, read, provider, body, warnings);
		const repaired = yield* repairingSteps(body, repair, locatedMembers);
		return untranslated(inferenceRequest, read, provider, repaired, [...warnings, ...repair.warnings]);
	}
	const providerFormat = dialects[dialect];
	const encryption = deps.ports.reasoningEncryption(provider.secrets[0] ?? provider.origin, team);
	const translation = responseTranslation(inferenceRequest.format.name, dialect);
	const readExactly = inferenceRequest.format.hasArgumentValues ? inferenceRequest.body.readExactly : undefined;
	const members = readExactly?.() ?? inferenceRequest.body.members;
	if (readExactly !== undefined) yield;
	const {
		body: whole,
		headers = {},
		warnings: lost,
		notes = [],
	} = translateRequest(inferenceRequest.format.name, dialect, members, {
		...said,
		model: target.model,
		maxOutputTokens,
		defaultMaxTokens: defaultCapTokens ?? said.defaultMaxTokens,
		encryption,
	});
	yield;
	const body = provider.requestsStreamUsage ? whole : providerFormat.withoutUsageOption(whole);
	const warnings = inferenceRequest.request.headers['anthropic-beta'] === undefined ? lost : [...lost, 'anthropic-beta: not forwarded'];
	if (deps.settings.isTranslationStrict && warnings.length > 0) {
		throw new Rejection('field_invalid', {
			...fieldOf(warnings[0]),
			message: `The target’s format cannot express these fields, and \`routing.translation\` is \`strict\`: ${warnings.join('; ')}`,
		});
	}
	const outgoing = new WrittenBody(body, locatedMembers);
	yield;
	const nowSeconds = Math.floor(deps.ports.clock.nowMs() / 1000);
	const { estimatedTokens: estimatedInputTokens } = measureInput(outgoing, inferenceRequest.format.inputContent(members), knownAs);
	return {
		...inferenceRequest,
		target,
		provider,
		knownAs,
		maxOutputTokens,
		defaultCapTokens,
		providerFormat,
		outgoing,
		translated: {
			translation,
			headers,
			inferenceRequest: {
				request: members,
				model: inferenceRequest.model,
				requestId: inferenceRequest.request.id,
				nowSeconds,
				estimatedInputTokens,
				encryption,
			},
		},
		warnings: notes.length === 0 ? warnings : [...warnings, ...notes],
		estimate: undefined,
	};
}

/** Returns the repair of parameters that the target's model rejects in its own format. */
function repairFor(
	inferenceRequest: InferenceRequest,
	{ said, knownAs }: Pick<ReadTarget, 'said' | 'knownAs'>,
	provider: Provider,
	{ settings, prices }: GatewayDeps,
): Repair | undefined {
	if (settings.repairsParameters === false) return undefined;
	return inferenceRequest.format.repair(inferenceRequest.body.members, {
		knownAs,
		// The operator can name the vendor's model behind another server's name.
		isListed: () =>
			prices.listedModel(said.knownAs === undefined ? provider.kind : inferenceRequest.format.vendorKind, knownAs) !== undefined,
		said,
		anthropicVersion: () => provider.requestHeaders(inferenceRequest.request.headers)['anthropic-version'],
	});
}

/** Runs `preparingSteps` without yielding, for callers without latency requirements. */
export function prepareRequest(inferenceRequest: InferenceRequest, target: Target, team: string, deps: GatewayDeps): PreparedRequest {
	return runSynchronously(preparingSteps(inferenceRequest, target, team, deps));
}

function untranslated(
	inferenceRequest: InferenceRequest,
	read: ReadTarget,
	provider: Provider,
	outgoing: JsonBody,
	warnings = none,
): PreparedRequest {
	const { request, endpoint, format, body, model, isStreaming, stateMode, session, substitution } = inferenceRequest;
	const { target, knownAs, maxOutputTokens, defaultCapTokens } = read;
	return {
		request,
		endpoint,
		format,
		body,
		model,
		isStreaming,
		stateMode,
		session,
		substitution,
		target,
		provider,
		knownAs,
		maxOutputTokens,
		defaultCapTokens,
		providerFormat: format,
		outgoing,
		translated: undefined,
		warnings,
		estimate: undefined,
	};
}

/** Returns the first lost field; warnings begin with its name. */
function fieldOf(warning = ''): { readonly param?: string } {
	const [param] = /^[\w.[\]-]+(?=: )/.exec(warning) ?? [];
	return param === undefined ? {} : { param };
}

/** Returns the provider of a target, whether it has a key or not. */
export function providerOf({ provider: name }: Target, { providers }: GatewayDeps): Provider {
	const provider = providers.get(name);
	if (provider === undefined) throw new Error(`routing chose \`${name}\`, which is not configured`);
	return provider;
}

/** @throws `Rejection` `thread_unsupported_request`, `field_invalid`; `UpstreamError` `provider_key_unset`. */
function providerFor(inferenceRequest: InferenceRequest, target: Target, deps: GatewayDeps): Provider {
	const provider = providerOf(target, deps);
	const { name } = provider;
	if (!provider.isConfigured && inferenceRequest.endpoint.estimateFor(provider) === undefined) {
		throw new UpstreamError('provider_key_unset', {
			message: `Provider \`${name}\` has no \`api_key\` or no \`base_url\`. Operators: set \`providers.${name}.api_key\`, and \`base_url\` for Azure`,
		});
	}
	rejectThread(inferenceRequest, provider, target, deps);
	inferenceRequest.format.requireServable?.(inferenceRequest.body.members, provider.kind);
	return provider;
}

/** Returns the dialect of the request to the provider. @throws `Rejection` `field_invalid` if the provider has no such endpoint. */
function dialectFor(inferenceRequest: InferenceRequest, provider: Provider, target: Target, deps: GatewayDeps): DialectName {
	const { format, body } = inferenceRequest;
	const dialect = servedDialect(inferenceRequest, provider, target, deps);
	if (dialect !== format.name) rejectStored(format, body);
	return dialect;
}

/** Returns the dialect of a request to a target, whatever its body. @throws `Rejection` `field_invalid` if the provider has no such endpoint. */
export function servedDialect(
	{ endpoint, format, model }: Pick<InferenceRequest, 'endpoint' | 'format' | 'model'>,
	provider: Provider,
	target: Target,
	deps: GatewayDeps,
): DialectName {
	const dialect = targetDialect(target, format.name, deps);
	if (dialect === format.name) return dialect;
	if (dialect !== undefined && endpoint.isUntranslated !== true) return dialect;
	throw new Rejection('field_invalid', {
		param: 'model',
		message: `\`${model.slice(0, 64)}\` is a model of \`${provider.name}\`, which does not serve ${endpoint.path}: use a model of another provider`,
	});
}

/** Rejects references to what only a provider of the client's format stores. @throws `Rejection` `field_invalid` */
function rejectStored({ state }: ClientDialect, { members }: JsonBody): void {
	const reference = state?.references(members).find(({ isStored }) => isStored);
	if (state !== undefined && reference !== undefined) throw state.rejectReference(reference);
}

/** With these details, Anthropic's SDKs resend the conversation in full without `thread`, and stay in that mode. */
const details = { error_code: 'thread_unsupported_request', unsupported: ['model'] };

/**
 * Rejects a request with `thread`, which contains only the newest turns. The others are stored at Anthropic, where guardrails cannot read
 * them, and a budget cannot bound their cost.
 * @throws `Rejection` `thread_unsupported_request`.
 */
export function rejectThread(inferenceRequest: InferenceRequest, provider: Provider, target: Target, deps: GatewayDeps): void {
	const { format, body } = inferenceRequest;
	const field = format.storedTurnsField(body.members);
	if (field === undefined) return;
	const {
		settings: { budgets },
		guardrailRunner,
	} = deps;
	const isBounded = budgets.isEnabled && budgets.reservation === 'worst_case';
	const isSame = dialectFor(inferenceRequest, provider, target, deps) === format.name;
	if (isSame && guardrailRunner === undefined && !isBounded) return;
	throw new Rejection('thread_unsupported_request', { param: field, details });
}
