import { Fault } from '../../../core/fault.ts';
import { Refusal } from '../../../core/refusal.ts';
import { atOnce, type Steps } from '../../../core/steps.ts';
import { measureInput } from '../../../policy/budgets/estimate.ts';
import { maxOutputTokensOf } from '../../../policy/budgets/model-limits.ts';
import type { Target } from '../../../policy/routing/target.ts';
import type { ModelFacts } from '../../../wire/conversation/model-facts.ts';
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
import type { GatewayParts } from '../gateway-parts.ts';
import { type Call, placedMembers } from './read-call.ts';

interface TranslatedPart {
	readonly translation: ResponseTranslation;
	readonly call: TranslatedCall;
	/** Sent in place of the caller's. */
	readonly headers: Readonly<Record<string, string>>;
}

/** A call as its provider takes it. */
export interface PreparedCall extends Call {
	readonly target: Target;
	readonly provider: Provider;
	/** The vendor's name of the target's model: what it is priced and capped as. */
	readonly knownAs: string;
	/** The most that the model can write; undefined when nothing is known. */
	readonly maxOutputTokens: number | undefined;
	/** The cap on one choice's output that the operator sets for requests without one; undefined: the caller gave a cap, or there is none. */
	readonly defaultCapTokens: number | undefined;
	/** What the provider speaks. */
	readonly providerFormat: Dialect;
	/** What is sent, but for edits that are made on the way. */
	readonly outgoing: JsonBody;
	/** Undefined where caller and provider speak the same. */
	readonly translated: TranslatedPart | undefined;
	/** What was dropped or changed, for the sender. */
	readonly warnings: readonly string[];
	/** Responds in place of a provider that does not serve the endpoint. */
	readonly estimate: Estimate | undefined;
}

const none: readonly string[] = [];

/**
 * Most calls are passed on as they came, which takes no steps.
 * @returns undefined for those that are not. @throws as `preparingSteps` does.
 */
export function passOn(call: Call, target: Target, team: string, parts: GatewayParts): PreparedCall | undefined {
	const provider = providerFor(call, target, parts);
	const isSpoken = isSameDialect(call.format.name, provider.protocol.wire);
	const hasVendorFields = call.format.vendorFields.mayBeIn(call.body.members);
	if (!isSpoken || hasVendorFields || call.endpoint.estimateFor(provider) !== undefined) return undefined;
	const read = readTarget(call, target, team, parts);
	return repairFor(call, read, provider, parts) === undefined ? untranslated(call, read, provider, call.body) : undefined;
}

/** A target's model, as far as that decides what it is asked. */
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
 * Finds who answers, and what it is to be asked. In steps, for what is large takes some milliseconds in each.
 * @throws Refusal `field_invalid`, `thread_unsupported_request`; Fault `provider_key_unset`.
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
		throw new Refusal('field_invalid', {
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

/** What the target's model is known to reject of a request in its own format. */
function repairFor(
	call: Call,
	{ said, knownAs }: Pick<ReadTarget, 'said' | 'knownAs'>,
	provider: Provider,
	{ settings, prices }: GatewayParts,
): Repair | undefined {
	if (settings.repairsParameters === false) return undefined;
	return call.format.repair(call.body.members, {
		knownAs,
		// The operator may say which of the vendor's models another server has.
		isListed: () => prices.listedModel(said.knownAs === undefined ? provider.kind : call.format.vendorKind, knownAs) !== undefined,
		said,
		anthropicVersion: () => provider.requestHeaders(call.request.headers)['anthropic-version'],
	});
}

/** As `preparingSteps`, where nobody waits. */
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

/** The first that would be lost; warnings begin with the field's name. */
function fieldOf(warning = ''): { readonly param?: string } {
	const [param] = /^[\w.[\]-]+(?=: )/.exec(warning) ?? [];
	return param === undefined ? {} : { param };
}

/** @throws Refusal `thread_unsupported_request`; Fault `provider_key_unset`. */
function providerFor(call: Call, { provider: name }: Target, parts: GatewayParts): Provider {
	const provider = parts.providers.get(name);
	if (provider === undefined) throw new Error(`routing chose \`${name}\`, which is not configured`);
	if (!provider.isConfigured && call.endpoint.estimateFor(provider) === undefined) throw new Fault('provider_key_unset');
	refuseThread(call, provider, parts);
	return provider;
}

/** On these details Anthropic's SDKs send the whole conversation without `thread`, and go on so. */
const details = { error_code: 'thread_unsupported_request', unsupported: ['model'] };

/**
 * A request with `thread` holds the newest turns alone: the rest is stored at Anthropic, where guardrails cannot read it, nor a budget
 * know what it can cost at most.
 * @throws Refusal `thread_unsupported_request`.
 */
export function refuseThread({ format, body }: Call, provider: Provider, { settings: { budgets }, guarding }: GatewayParts): void {
	const field = format.storedTurnsField(body.members);
	if (field === undefined) return;
	const isBounded = budgets.isEnabled && budgets.hold === 'worst_case';
	if (isSameDialect(format.name, provider.protocol.wire) && guarding === undefined && !isBounded) return;
	throw new Refusal('thread_unsupported_request', { param: field, details });
}
