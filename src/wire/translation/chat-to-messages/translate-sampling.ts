import type { JsonObject } from '../../json/parse-body.ts';
import { takenStops } from '../model-limits.ts';
import { refuseField } from '../refuse-field.ts';
import type { RequestWarnings } from '../request-warnings.ts';
import type { ClaudeModel } from './claude-model.ts';
import { isBlank } from './content-parts.ts';

/** From here on `top_p` is as good as none. */
const defaultTopP = 0.99;

/**
 * `temperature` and `top_p`: at most one of them, for some models refuse both together, and none where the model takes
 * no sampling or is asked to think.
 */
export function translateSampling(request: JsonObject, model: ClaudeModel, isThinking: boolean, warnings: RequestWarnings): JsonObject {
	const temperature = numberOf(request, 'temperature');
	const topP = numberOf(request, 'top_p');
	if (!model.takesSampling || isThinking) {
		if (temperature !== undefined && temperature !== 1) warnings.add('temperature', 'ignored');
		if (topP !== undefined && topP < defaultTopP) warnings.add('top_p', 'ignored');
		return {};
	}
	if (temperature === undefined) return topP === undefined ? {} : { top_p: topP };
	if (topP !== undefined && topP < defaultTopP) warnings.add('top_p', 'ignored beside temperature');
	const { temperatureMax: most } = model;
	if (temperature > most) warnings.add('temperature', `lowered from ${temperature} to ${most}`);
	return { temperature: Math.min(temperature, most) };
}

/** @throws Refusal `field_invalid`. */
export function translateStop({ stop }: JsonObject, model: ClaudeModel, warnings: RequestWarnings): JsonObject {
	if (stop === undefined || stop === null) return {};
	const sequences: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
	const said = sequences.filter((sequence, index) => {
		if (typeof sequence !== 'string') return refuseField(Array.isArray(stop) ? `stop[${index}]` : 'stop', 'must be a string');
		if (isBlank(sequence)) warnings.add('stop', 'blank sequences ignored');
		return !isBlank(sequence);
	});
	const kept = takenStops('stop', said, model, warnings);
	return kept.length === 0 ? {} : { stop_sequences: kept };
}

function numberOf(request: JsonObject, name: string): number | undefined {
	const value = request[name];
	if (value === undefined || value === null) return undefined;
	return typeof value === 'number' ? value : refuseField(name, 'must be a number');
}
