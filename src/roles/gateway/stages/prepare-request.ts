import { atOnce, type Steps } from '../../../core/cooperative-task.ts';
import { Rejection } from '../../../core/rejection.ts';
import { UpstreamError } from '../../../core/upstream-error.ts';
import { measureInput } from '../../../policy/budgets/estimate.ts';
import { maxOutputTokensOf } from '../../../policy/budgets/model-output-limits.ts';
import type { Target } from '../../../policy/routing/target.ts';
import type { ModelFacts } from '../../../wire/conversation/model-capabilities.ts';
import type { TranslatedCall } from '../../../wire/conversation/response.ts';
import type { ResponseTranslation } from '../../../wire/conversation/translation.ts';
import type { Dialect } from '../../../wire/dialects/dialect.ts';
import { dialects } from '../../../wire/dialects/dialects.ts';
import type { Estimate } from '../../../wire/endpoints/endpoint.ts';
import { type JsonBody, WrittenBody } from '../../../wire/json/parse-body.ts';
import type { Provider } from '../../../wire/providers/provider.ts';
import { type Repair, repairingSteps } from '../../../wire/repair-parameters.ts';
import { isSameDialect, responseTranslation, translateRequest } from '../../../wire/translate.ts';
import { removeVendorFieldsSteps } from '../../../wire/vendor-fields.ts';
import type { GatewayParts } from '../gateway-deps.ts';
import { type Call, placedMembers } from './read-inference-request.ts';

interface TranslatedPart {
	readonly translation: ResponseTranslation;
	readonly call: TranslatedCall;
	/** Replaces the client's header fields. */
	readonly headers: Readonly<Record<string, string>>;
}

/** A request as its provider receives it. */
export interface PreparedCall extends Call {
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
export function passOn(call: Call, target: Target, team: string, parts: GatewayParts): PreparedCall | undefined {
	const provider = providerFor(call, target, parts);
	const isSpoken = isSameDialect(call.format.name, provider.protocol.wire);
	const hasVendorFields = call.format.vendorFields.mayBeIn(call.body.members);
	if (!isSpoken || hasVendorFields || call.endpoint.estimateFor(provider) !== undefined) return undefined;
	const read = readTarget(call, target, team, parts);
	return repairFor(call, read, provider, parts) === undefined ? untranslated(call, read, provider, call.body) : undefined;
}

/** Properties of a target's model that affect the request. */
interface ReadTarget extends Pick<PreparedCall, 'target' | 'knownAs' | 'maxOutputTokens' | 'defaultCapTokens'> {
	readonly said: ModelFacts;
}

function readTarget(call: Call, target: Target, team: string, { modelFacts, defaultOutputCaps }: GatewayParts): ReadTarget {
	const said = modelFacts.of(target);
	const knownAs = said.knownAs ?? target.model;
	const maxOutputTokens = said.maxOutputTokens ?? maxOutputTokensOf(knownAs);
	const hasCap = call.format.requestedOutput(call.body.members).capTokens !== undefined;
	const defaultCapTokens = hasCap ? undefined : defaultOutputCaps.capOf(team, target.model, knownAs);
	return { target, said, knownAs, maxOutputTokens, defaultCapTokens };
}

/**
 * Selects the provider and builds the request for it. Runs in steps, because each takes milliseconds for a large body.
 * @throws `Rejection` `field_invalid`, `thread_unsupported_request`; `UpstreamError` `provider_key_unset`.
 */
export function* preparingSteps(call: Call, target: Target, team: string, parts: GatewayParts): Steps<PreparedCall> {
	const provider = providerFor(call, target, parts);
	const { wire: spoken } = provider.protocol;
	const read = readTarget(call, target, team, parts);
	const { said, knownAs, maxOutputTokens, defaultCapTokens } = read;
	const estimate = call.endpoint.estimateFor(provider);
	if (estimate !== undefined) return { ...untranslated(call, read, provider, call.body, [estimate.warning]), estimate };
	if (isSameDialect(call.format.name, spoken)) {
		const cleaned = yield* removeVendorFieldsSteps(call.body, call.format.vendorFields, knownAs, placedMembers);
		const repair = repairFor(call, read, provider, parts);
		if (repair === undefined) return untranslated(call, read, provider, cleaned);
		return untranslated(call, read, provider, yield* repairingSteps(cleaned, repair, placedMembers), repair.warnings);
	}
	const providerFormat = dialects[spoken];
	const translation = responseTranslation(call.format.name, spoken);
	const readExactly = call.format.hasArgumentValues ? call.body.readExactly : undefined;
	const members = readExactly?.() ?? call.body.members;
	if (readExactly !== undefined) yield;
	const {
		body: whole,
		headers = {},
		warnings: lost,
		notes = [],
	} = translateRequest(call.format.name, spoken, members, {
		...said,
		model: target.model,
		maxOutputTokens,
		defaultMaxTokens: defaultCapTokens ?? said.defaultMaxTokens,
	});
	yield;
	const body = provider.asksForStreamUsage ? whole : providerFormat.withoutUsageOption(whole);
	const warnings = call.request.headers['anthropic-beta'] === undefined ? lost : [...lost, 'anthropic-beta: not forwarded'];
	if (parts.settings.isTranslationStrict && warnings.length > 0) {
		throw new Rejection('field_invalid', {
			...fieldOf(warnings[0]),
			message: `The target’s format cannot express these fields, and \`routing.translation\` is \`strict\`: ${warnings.join('; ')}`,
		});
	}
	const outgoing = new WrittenBody(body, placedMembers);
	yield;
	const nowSeconds = Math.floor(parts.ports.clock.nowMs() / 1000);
	const { estimatedTokens: estimatedInputTokens } = measureInput(outgoing, call.format.inputContent(members), knownAs);
	return {
		...call,
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
			call: { request: members, model: call.model, requestId: call.request.id, nowSeconds, estimatedInputTokens },
		},
		warnings: notes.length === 0 ? warnings : [...warnings, ...notes],
		estimate: undefined,
	};
}

/** Returns the repair of parameters that the target's model rejects in its own format. */
function repairFor(
	call: Call,
	{ said, knownAs }: Pick<ReadTarget, 'said' | 'knownAs'>,
	provider: Provider,
	{ settings, prices }: GatewayParts,
): Repair | undefined {
	if (settings.repairsParameters === false) return undefined;
	return call.format.repair(call.body.members, {
		knownAs,
		// The operator can name the vendor's model behind another server's name.
		isListed: () => prices.listedModel(said.knownAs === undefined ? provider.kind : call.format.vendorKind, knownAs) !== undefined,
		said,
		anthropicVersion: () => provider.requestHeaders(call.request.headers)['anthropic-version'],
	});
}

/** Runs `preparingSteps` without yielding, for callers without latency requirements. */
export function prepareCall(call: Call, target: Target, team: string, parts: GatewayParts): PreparedCall {
	return atOnce(preparingSteps(call, target, team, parts));
}

function untranslated(call: Call, read: ReadTarget, provider: Provider, outgoing: JsonBody, warnings = none): PreparedCall {
	const { request, endpoint, format, body, model, isStreamed } = call;
	const { target, knownAs, maxOutputTokens, defaultCapTokens } = read;
	return {
		request,
		endpoint,
		format,
		body,
		model,
		isStreamed,
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

/** @throws `Rejection` `thread_unsupported_request`; `UpstreamError` `provider_key_unset`. */
function providerFor(call: Call, { provider: name }: Target, parts: GatewayParts): Provider {
	const provider = parts.providers.get(name);
	if (provider === undefined) throw new Error(`routing chose \`${name}\`, which is not configured`);
	if (!provider.isConfigured && call.endpoint.estimateFor(provider) === undefined) throw new UpstreamError('provider_key_unset');
	rejectThread(call, provider, parts);
	return provider;
}

/** With these details, Anthropic's SDKs resend the conversation in full without `thread`, and stay in that mode. */
const details = { error_code: 'thread_unsupported_request', unsupported: ['model'] };

/**
 * Rejects a request with `thread`, which contains only the newest turns. The others are stored at Anthropic, where guardrails cannot read
 * them, and a budget cannot bound their cost.
 * @throws `Rejection` `thread_unsupported_request`.
 */
export function rejectThread({ format, body }: Call, provider: Provider, { settings: { budgets }, guarding }: GatewayParts): void {
	const field = format.storedTurnsField(body.members);
	if (field === undefined) return;
	const isBounded = budgets.isEnabled && budgets.hold === 'worst_case';
	if (isSameDialect(format.name, provider.protocol.wire) && guarding === undefined && !isBounded) return;
	throw new Rejection('thread_unsupported_request', { param: field, details });
}
