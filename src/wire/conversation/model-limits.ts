/** What the models of all dialects may have in common: limits of sampling, of sequences to stop at, and of the shape of responses. */
import type { FunctionTool, NumberSetting, Setting, Tool } from './conversation.ts';
import { rejectField } from './json-view.ts';
import type { RequestWarnings } from './request-translation.ts';

export interface ModelLimits {
	/** Other values of `temperature` and `top_p` than 1. */
	readonly takesSampling: boolean;
	readonly temperatureMax: number;
	/** Sequences to stop at. */
	readonly takesStop: boolean;
	/** A JSON schema that its answer is held to. */
	readonly takesSchema: boolean;
}

/** What the model takes of the client's `temperature`, `top_p` or `top_k`; undefined: nothing. */
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

/** @throws Refusal `field_invalid` for more sequences than the provider takes. */
export function requireStopCount(field: string, stops: readonly string[], max: number): void {
	if (stops.length > max) rejectField(field, `must have at most ${max} for the model’s provider`);
}

/** An answer of any other shape is not what was asked for. @throws Refusal `field_invalid`. */
export function requireSchemaTaken(field: string, model: ModelLimits): void {
	if (model.takesSchema) return;
	rejectField(
		field,
		'requests structured output, which the model does not support: describe the format in the prompt, or use another model',
	);
}

/** @throws Refusal `field_invalid` for a tool that only its own vendor knows. */
export function requireFunctions(tools: readonly Tool[]): readonly FunctionTool[] {
	return tools.map((tool) => (tool.kind === 'function' ? tool : rejectField(tool.at.path, tool.cure)));
}
