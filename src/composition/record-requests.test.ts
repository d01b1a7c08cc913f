import { expect, test } from 'vitest';
import { RequestRecorder } from '../roles/gateway/request-scope/request-recorder.ts';
import type { RecordedRequest } from '../stores/contracts/request-records.ts';
import { recordRequests } from './record-requests.ts';

function entryOf(recorder: RequestRecorder) {
	return {
		requestId: 'req_0123456789ab',
		method: 'POST',
		target: '/v1/messages',
		status: 200,
		outcome: 'complete' as const,
		durationMs: 1,
		requestBytes: 1,
		responseBytes: 1,
		peer: '',
		code: undefined,
		record: recorder.record,
	};
}

function recorderOf(endpoint: string | undefined): RequestRecorder {
	const recorder = new RequestRecorder();
	if (endpoint !== undefined) recorder.enterEndpoint(endpoint);
	recorder.identifyClient('agent');
	return recorder;
}

test('a record waits for the evaluations of its request, and has what they found', async () => {
	const added: RecordedRequest[] = [];
	const recording = recordRequests({ add: (request) => void added.push(request) });
	const recorder = recorderOf('/v1/messages');
	const [input, output] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	recorder.waitFor(input.promise);
	recorder.waitFor(output.promise);
	recorder.end(undefined);
	recording.observe(entryOf(recorder));
	recording.observe(entryOf(recorderOf('/v1/embeddings')));
	recording.observe(entryOf(recorderOf(undefined)));
	expect(added.map(({ endpoint }) => endpoint)).toEqual(['/v1/embeddings']);
	output.resolve();
	let isSettled = false;
	const settled = recording.settled().then(() => (isSettled = true));
	await Promise.resolve();
	expect(isSettled).toBe(false);
	recorder.monitor('guardrail_blocked');
	input.resolve();
	await settled;
	expect(added.map(({ monitored }) => monitored)).toEqual([[], ['guardrail_blocked']]);
	await recording.settled();
});
