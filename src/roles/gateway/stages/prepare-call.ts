import { Fault } from '../../../core/fault.ts';
import { Refusal } from '../../../core/refusal.ts';
import { maxOutputTokensOf } from '../../../policy/budgets/model-limits.ts';
import type { Target } from '../../../policy/routing/target.ts';
import type { Format } from '../../../wire/formats/format.ts';
import { formats } from '../../../wire/formats/formats.ts';
import type { JsonBody, JsonObject } from '../../../wire/json/parse-body.ts';
import { scanMembers } from '../../../wire/json/scan-members.ts';
import type { Provider } from '../../../wire/providers/provider.ts';
import type { TranslatedCall, Translation } from '../../../wire/translation/translation.ts';
import { translationOf } from '../../../wire/translation/translations.ts';
import type { GatewayFacts } from '../gateway-facts.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { type Call, placedMembers } from './read-call.ts';

/** A call as its provider takes it. */
export interface PreparedCall extends Call {
	readonly target: Target;
	readonly provider: Provider;
	/** What the provider speaks. */
	readonly providerFormat: Format;
	/** What is sent, but for edits that are made on the way. */
	readonly outgoing: JsonBody;
	/** Undefined where caller and provider speak the same. */
	readonly translated: { readonly translation: Translation; readonly call: TranslatedCall } | undefined;
}

/**
 * Finds who answers, and what it is to be asked.
 * @throws Refusal `translation_unavailable`, `field_invalid`; Fault `provider_key_unset`.
 */
export function prepareCall(call: Call, target: Target, facts: GatewayFacts, parts: GatewayParts): PreparedCall {
	const provider = parts.providers.get(target.provider);
	if (provider === undefined) throw new Error(`routing chose \`${target.provider}\`, which is not configured`);
	const spoken = provider.protocol.format;
	if (spoken === call.format.name) {
		requireConfigured(provider);
		return { ...call, target, provider, providerFormat: call.format, outgoing: call.body, translated: undefined };
	}
	const translation = translationOf(call.format.name, spoken);
	const providerFormat = formats.find(({ name }) => name === spoken);
	if (translation === undefined || providerFormat === undefined) {
		throw new Refusal('translation_unavailable', {
			param: 'model',
			message: `The model's provider, ${provider.name}, does not speak the format of ${call.format.path}: use another endpoint or model`,
		});
	}
	requireConfigured(provider);
	const { members } = call.body;
	const { body: whole, warnings } = translation.translateRequest(members, {
		model: target.model,
		maxOutputTokens: maxOutputTokensOf(target.model),
	});
	const body = provider.asksForStreamUsage ? whole : withoutStreamOptions(whole);
	if (parts.settings.isTranslationStrict && warnings.length > 0) {
		throw new Refusal('field_invalid', {
			message: `Not translated faithfully, and \`routing.translation\` is strict: ${warnings.join('; ')}`,
		});
	}
	facts.warnings = warnings;
	const bytes = Buffer.from(JSON.stringify(body));
	const nowSeconds = Math.floor(parts.ports.clock.nowMs() / 1000);
	return {
		...call,
		target,
		provider,
		providerFormat,
		outgoing: { bytes, members: body, ranges: scanMembers(bytes, placedMembers).ranges },
		translated: { translation, call: { request: members, model: call.model, requestId: call.request.id, nowSeconds } },
	};
}

function withoutStreamOptions({ stream_options: _dropped, ...body }: JsonObject): JsonObject {
	return body;
}

function requireConfigured(provider: Provider): void {
	if (!provider.isConfigured) throw new Fault('provider_key_unset');
}
