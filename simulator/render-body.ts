/** Renders bodies independent of the wire dialect: recordings, and deliberately malformed events. */
import type { Clock } from '../src/core/clock.ts';
import type { HttpRequest, HttpResponse } from '../src/core/handler.ts';
import type { OpenRequest } from './open-request.ts';
import { pacedStream } from './paced-stream.ts';
import type { Recording } from './replay/scripted-responses.ts';
import { cutBody } from './replay/split-body.ts';
import type { WireEvent } from './wires/wire.ts';

/** Replays a recording's bytes in its own chunks, without billing. */
export function renderRecording(recording: Recording, call: OpenRequest, clock: Clock, request: HttpRequest): HttpResponse {
	const { status, headers, body, cut, intervalMs } = recording;
	call.row.status = status;
	const pace = { firstEventMs: 0, intervalMs, breakOff: undefined };
	const stream = pacedStream(piecesAsEvents(body, cut), pace, clock, () => '', {
		onSent: () => call.generated(0),
		onOver: (outcome) => call.settle(outcome === 'complete' ? 'replayed' : outcome),
	});
	request.onClientDisconnect(stream.abort);
	return { status, headers, body: stream };
}

function* piecesAsEvents(body: Buffer, cut: Recording['cut']): Generator<WireEvent> {
	for (const bytes of cutBody(body, cut)) yield { bytes, outputTokens: 0 };
}

const malformedEvent = 2;

/** Truncates the data of the third event, and keeps its framing. */
export function* withMalformedEvent(events: Iterable<WireEvent>): Generator<WireEvent> {
	let index = 0;
	for (const event of events) {
		yield index++ === malformedEvent ? { ...event, bytes: tearData(event.bytes.toString()) } : event;
	}
}

function tearData(event: string): string {
	const framing = /(?:\r?\n)+$/.exec(event)?.[0] ?? '';
	const data = event.slice(0, event.length - framing.length);
	return data.slice(0, Math.ceil(data.length * 0.7)) + framing;
}
