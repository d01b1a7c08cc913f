import { repairedResponses } from '../../dialects/gemini-openai/response.ts';
import { isJsonObject, type JsonObject } from '../../json/parse-body.ts';
import { geminiModelOf } from '../gemini/gemini-model.ts';
import { markUnsigned } from '../gemini/mark-unsigned.ts';
import { chatModelOf } from '../messages-to-chat/chat-model.ts';
import { requireSchemaTaken, takenSampling, takenStops } from '../model-limits.ts';
import { RequestWarnings } from '../request-warnings.ts';
import type { TranslatedRequest, Translation, TranslationTarget } from '../translation.ts';

/** Callers of chat completions, served by what Gemini makes of them: what deviates is repaired. */
export const chatToGeminiOpenai: Translation = {
	caller: 'chat',
	provider: 'gemini-openai',
	translateRequest,
	...repairedResponses,
};

function translateRequest(request: JsonObject, target: TranslationTarget): TranslatedRequest {
	const warnings = new RequestWarnings();
	const { messages } = request;
	const isToBeSigned = geminiModelOf(target).needsSignatures && Array.isArray(messages);
	const body = {
		...fitted(request, target, warnings),
		model: target.model,
		...(isToBeSigned && { messages: markUnsigned(messages, warnings) }),
	};
	return { body, warnings: warnings.list() };
}

/** What is sent as it came but for what the model is known not to take; what only its server can judge is left to it. */
function fitted(request: JsonObject, target: TranslationTarget, warnings: RequestWarnings): JsonObject {
	const model = chatModelOf(target);
	const body: Record<string, unknown> = { ...request };
	for (const name of ['temperature', 'top_p']) {
		const value = body[name];
		if (typeof value !== 'number') continue;
		delete body[name];
		const given = takenSampling(name, value, model, warnings);
		if (given !== undefined) body[name] = given;
	}
	const { stop, response_format } = request;
	const stops: readonly unknown[] = Array.isArray(stop) ? stop : isGiven(stop) ? [stop] : [];
	if (takenStops('stop', stops, model, warnings).length < stops.length) delete body.stop;
	if (isJsonObject(response_format) && response_format.type === 'json_schema') requireSchemaTaken('response_format', model);
	const { maxOutputTokens: most = Number.POSITIVE_INFINITY, defaultMaxTokens: usual } = target;
	const caps = ['max_completion_tokens', 'max_tokens'].filter((name) => isGiven(body[name]));
	for (const name of caps) {
		const asked = body[name];
		if (typeof asked !== 'number' || asked <= most) continue;
		warnings.add(name, `lowered to ${most}`);
		body[name] = most;
	}
	if (caps.length === 0 && usual !== undefined) body[model.tokenParam] = Math.min(usual, most);
	return body;
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}
