import type { ResponseReading, ResponseWriting, ToolNaming } from './response.ts';
import { TranslatedStream } from './translated-stream.ts';
import type { ResponseTranslation } from './translation.ts';

/** The way back from a provider dialect to a client dialect. */
export function translateResponses(reading: ResponseReading, writing: ResponseWriting): ResponseTranslation {
	return {
		translateAnswer(body, call) {
			const writer = writing.createBodyWriter(
				call,
				toolNaming(reading, () => writing.toolNames(call.request)),
			);
			reading.readBody(body, writer);
			return writer.body();
		},
		answerWarnings: (body) => (reading.finishWarnings?.(body) ?? []).map((warning) => `${writing.finishField}: ${warning}`),
		translateError(status, body, call) {
			const error = reading.readError(status, body);
			const { retryAfterSeconds } = error;
			return { body: writing.writeError(error, call), ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
		},
		translateStream(call) {
			const writer = writing.createStreamWriter(
				call,
				toolNaming(reading, () => writing.toolNames(call.request)),
			);
			return new TranslatedStream(reading.createStreamReader(writer), writer);
		},
	};
}

/** Looks at the offered tools only when one is called. */
function toolNaming({ fitToolName }: ResponseReading, namesOf: () => readonly string[]): ToolNaming {
	let offered: ReadonlyMap<string, string> | undefined;
	return (name) => {
		offered ??= new Map(namesOf().map((one) => [fitToolName(one), one]));
		return offered.get(name) ?? name;
	};
}
