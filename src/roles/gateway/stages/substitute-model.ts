import { LimitRejection } from '../../../policy/limits/limit-rejection.ts';
import type { InferenceRequest } from './read-inference-request.ts';

/**
 * Returns the request for the model that serves it in place of a rejection by a budget. A request is substituted once, so budgets that name
 * each other's models never loop.
 * @param cause of the rejection. @returns undefined if the rejection stands.
 */
export function substituteFor<Request extends Pick<InferenceRequest, 'model' | 'substitution'>>(
	cause: unknown,
	inferenceRequest: Request,
): Request | undefined {
	if (!(cause instanceof LimitRejection) || cause.fallbackModel === null || inferenceRequest.substitution !== undefined) return undefined;
	const model = cause.fallbackModel;
	const warning = `model: \`${inferenceRequest.model}\` is served by \`${model}\`: ${cause.message}`;
	return { ...inferenceRequest, model, substitution: { model, warning } };
}
