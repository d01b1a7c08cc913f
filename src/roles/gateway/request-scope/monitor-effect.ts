import type { MonitoredCode } from '../../../core/request-record.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { RequestRecorder } from './request-recorder.ts';

/** Records and counts an effect that a monitored policy would have had. */
export function monitorEffect(code: MonitoredCode, recorder: Pick<RequestRecorder, 'monitor'>, { monitored }: GatewayDeps): void {
	recorder.monitor(code);
	monitored.add(1, { code });
}
