/** Model limits that dialects share: sampling, stop sequences, and structured output. */
import type { FunctionTool, NumberSetting, Setting, Tool } from './conversation.ts';
import { rejectField } from './json-view.ts';
import type { RequestWarnings } from './request-translation.ts';

export interface ModelLimits {
	/** True if `temperature` and `top_p` may differ from 1. */
	readonly takesSampling: boolean;
	readonly temperatureMax: number;
	/** True if stop sequences are supported. */
	readonly takesStop: boolean;
	/** True if the response can be constrained by a JSON schema. */
	readonly takesSchema: boolean;
}

/** Returns the value of `temperature`, `top_p` or `top_k` that the model takes; undefined if none. */
export function takenSampling(
	name: NumberSetting,
	{ field, value }: Setting<number>,
	model: ModelLimits,
	warnings: RequestWarnings,
): number | undefined {
	if (!model.takesSampling) {
		if (value !== 1 || name === 'topK') warnings.add(field, 'ignored because the model accepts only the default');
		return undefined;
	}
	if (name !== 'temperature' || value <= model.temperatureMax) return value;
	warnings.add(field, `lowered from ${value} to ${model.temperatureMax}`);
	return model.temperatureMax;
}

export function takenStops<Stop>(
	{ field, value }: Setting<readonly Stop[]>,
	model: ModelLimits,
	warnings: RequestWarnings,
): readonly Stop[] {
	if (value.length === 0 || model.takesStop) return value;
	warnings.add(field, 'ignored because the model accepts none');
	return [];
}

/** @throws `Rejection` `field_invalid` for more stop sequences than the provider takes. */
export function requireStopCount(field: string, stops: readonly string[], max: number): void {
	if (stops.length > max) rejectField(field, `must have at most ${max} for the model’s provider`);
}

/** Rejects a schema that the model does not support, because its response could have another shape. @throws `Rejection` `field_invalid`. */
export function requireSchemaTaken(field: string, model: ModelLimits): void {
	if (model.takesSchema) return;
	rejectField(
		field,
		'requests structured output, which the model does not support: describe the format in the prompt, or use another model',
	);
}

/** @throws `Rejection` `field_invalid` for a tool that only its own vendor supports. */
export function requireFunctions(tools: readonly Tool[]): readonly FunctionTool[] {
	return tools.map((tool) => (tool.kind === 'function' ? tool : rejectField(tool.at.path, tool.cure)));
}
