/** What the models of all wires may have in common: limits of sampling, of sequences to stop at, and of the shape of answers. */
import { refuseField } from './refuse-field.ts';
import type { RequestWarnings } from './request-warnings.ts';

export interface ModelLimits {
	/** Other values of `temperature` and `top_p` than 1. */
	readonly takesSampling: boolean;
	readonly temperatureMax: number;
	/** Sequences to stop at. */
	readonly takesStop: boolean;
	/** A JSON schema that its answer is held to. */
	readonly takesSchema: boolean;
}

/** What the model takes of a caller's `temperature`, `top_p` or `top_k`; undefined: nothing. */
export function takenSampling(name: string, value: number, model: ModelLimits, warnings: RequestWarnings): number | undefined {
	if (!model.takesSampling) {
		if (value !== 1 || name === 'top_k') warnings.add(name, 'ignored because the model takes the default alone');
		return undefined;
	}
	if (name !== 'temperature' || value <= model.temperatureMax) return value;
	warnings.add(name, `lowered from ${value} to ${model.temperatureMax}`);
	return model.temperatureMax;
}

export function takenStops(name: string, stops: readonly unknown[], model: ModelLimits, warnings: RequestWarnings): readonly unknown[] {
	if (stops.length === 0 || model.takesStop) return stops;
	warnings.add(name, 'ignored because the model takes none');
	return [];
}

/** An answer of any other shape is not what was asked for. @throws Refusal `field_invalid`. */
export function requireSchemaTaken(field: string, model: ModelLimits): void {
	if (model.takesSchema) return;
	refuseField(field, 'asks for an answer by a schema, which the model does not take: ask in words, or another model');
}
