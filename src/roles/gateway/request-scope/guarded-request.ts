import type { GatewayDeps } from '../gateway-deps.ts';
import type { GuardedRequest } from '../guardrail-runner.ts';
import { monitorEffect } from './monitor-effect.ts';
import type { RequestRecorder } from './request-recorder.ts';

/** Names a request to guardrails, which record in it what monitored rules would have done. */
export function guardedRequest(requestId: string, team: string, recorder: RequestRecorder, deps: GatewayDeps): GuardedRequest {
	const effects = {
		monitor: (code: Parameters<RequestRecorder['monitor']>[0]) => monitorEffect(code, recorder, deps),
		waitFor: (evaluation: Promise<void>) => recorder.waitFor(evaluation),
	};
	return { requestId, team, effects };
}
