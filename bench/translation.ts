/**
 * `node bench/translation.ts`: CPU time that translation adds to its thread. It measures three things:
 * - a request of 1 KB and its non-streaming response, parsing and serializing included, because pass-through needs neither for the
 * response;
 * - one event of a stream;
 * - a conversation of 1 MB, in the slowest of some shapes: read, translated and written in steps between which the thread yields.
 */

import { type CooperativeTask, runSynchronously } from '../src/core/cooperative-task.ts';
import type { ResponseContext } from '../src/wire/conversation/response.ts';
import { clientDialects, isConversation } from '../src/wire/dialects/dialects.ts';
import { type JsonBody, type JsonObject, parsingSteps, WrittenBody } from '../src/wire/json/parse-body.ts';
import { translateRequest } from '../src/wire/translate.ts';
import { eventsIn } from '../test/support/byte-translation.ts';
import { readRecordings, recordedBytes } from '../test/support/recordings.ts';
import { samples, type Translation, translations } from '../test/support/translations.ts';

const exactJson = JSON as unknown as { rawJSON(text: string): unknown };
/** Repetitions per round: the system counts CPU time in ticks, and one step may take less than a tick. */
const timesARound = 10;
const placed = new Set(['model', 'stream_options', 'max_tokens', 'max_completion_tokens', 'generationConfig']);

console.log('pair                         call of 1 KB     event   1 MB: in all, longest step');
for (const translation of translations.filter(({ caller }) => isConversation(caller))) {
	const call = timeRequests(translation);
	const event = timeEvents(translation);
	const [allMs, maxMs] = timeLarge(translation);
	console.log(
		`${`${translation.caller} to ${translation.provider}`.padEnd(28)} ${call.toFixed(1).padStart(9)} us ${event.toFixed(2).padStart(6)} us ` +
			`${allMs.toFixed(1).padStart(8)} ms ${maxMs.toFixed(1).padStart(6)} ms`,
	);
}

/** Microseconds of CPU in the best of several rounds, because the machine runs other processes too. */
function cpuOf(work: () => void, times: number, rounds = 7): number {
	for (let warm = 0; warm < times; warm++) work();
	let best = Number.POSITIVE_INFINITY;
	for (let round = 0; round < rounds; round++) {
		const before = process.threadCpuUsage();
		for (let time = 0; time < times; time++) work();
		const { user, system } = process.threadCpuUsage(before);
		best = Math.min(best, (user + system) / times);
	}
	return best;
}

function callOf(request: JsonObject): ResponseContext {
	return { request, model: 'alias', requestId: 'req_1', nowSeconds: 1_790_000_000, estimatedInputTokens: 250 };
}

function translateBody({ caller, provider }: Translation, members: JsonObject): Buffer {
	const { body } = translateRequest(caller, provider, members, { model: samples[provider].models[1], maxOutputTokens: 64_000 });
	return new WrittenBody(body, placed).bytes;
}

function timeRequests(translation: Translation): number {
	const members = conversation(translation.caller, 1024);
	const call = callOf(members);
	const response = Buffer.from(JSON.stringify(responseOf(translation.provider)));
	return cpuOf(() => {
		translateBody(translation, members);
		JSON.stringify(translation.translateResponse(JSON.parse(response.toString()) as JsonObject, call));
	}, 4000);
}

/** Translates events one by one, as a slow model sends them. */
function timeEvents(translation: Translation): number {
	const { recordings: vendor } = samples[translation.provider];
	const recording = readRecordings(vendor).find(({ name }) => /^text-stream(?:-usage)?\.json$/.test(name.slice(vendor.length + 1)));
	if (recording === undefined) throw new Error(`no recording of a stream of ${vendor}`);
	const [head = '', ...rest] = recordedBytes(recording)
		.toString()
		.split(/(?<=\n\n)/);
	const text = rest.find((event) => /"(?:content|text)":"[^"]/.test(event)) ?? head;
	const deltas = Array.from({ length: 200 }, () => eventsIn(text));
	const first = [head, ...rest.slice(0, rest.indexOf(text))].map((event) => eventsIn(event));
	const call = callOf(conversation(translation.caller, 1024));
	return (
		cpuOf(() => {
			const stream = translation.translateStream(call);
			for (const event of first) void stream.push(event).bytes;
			for (const event of deltas) void stream.push(eventsIn(event.bytes)).bytes;
		}, 100) /
		(deltas.length + first.length)
	);
}

/** Milliseconds: the total, and the longest step, each of the slowest shape and as the mean of its best round. */
function timeLarge(translation: Translation): readonly [allMs: number, maxMs: number] {
	let slowestMs = 0;
	let maxMs = 0;
	for (const members of largeConversations(translation.caller)) {
		const bytes = Buffer.from(JSON.stringify(members));
		runSynchronously(largeSteps(translation, bytes));
		const best: number[] = [];
		for (let round = 0; round < 5; round++) {
			const sums: number[] = [];
			for (let time = 0; time < timesARound; time++) {
				for (const [step, ms] of stepTimes(largeSteps(translation, bytes)).entries()) sums[step] = (sums[step] ?? 0) + ms;
			}
			for (const [step, ms] of sums.entries()) best[step] = Math.min(best[step] ?? Number.POSITIVE_INFINITY, ms / timesARound);
		}
		slowestMs = Math.max(
			slowestMs,
			best.reduce((sum, ms) => sum + ms, 0),
		);
		maxMs = Math.max(maxMs, ...best);
	}
	return [slowestMs, maxMs];
}

/** Steps of the gateway's own stages, in `read-inference-request.ts` and `prepare-request.ts`. */
function* largeSteps({ caller, provider }: Translation, bytes: Buffer): CooperativeTask<Buffer> {
	const parsed: JsonBody = yield* parsingSteps(bytes, placed);
	yield;
	const members = parsed.readExactly?.() ?? parsed.members;
	yield;
	const { body } = translateRequest(caller, provider, members, { model: samples[provider].models[1], maxOutputTokens: 64_000 });
	yield;
	return new WrittenBody(body, placed).bytes;
}

function stepTimes(steps: CooperativeTask<unknown>): readonly number[] {
	const times: number[] = [];
	for (;;) {
		const before = process.threadCpuUsage();
		const { done } = steps.next();
		const { user, system } = process.threadCpuUsage(before);
		times.push((user + system) / 1000);
		if (done === true) return times;
	}
}

/** Conversations of 1 MB: an agent's, short turns, an image, and one with a number that a double cannot represent. */
function largeConversations(caller: Translation['caller']): readonly JsonObject[] {
	const short = (messages: unknown): JsonObject => spoken(caller, { model: 'alias', max_tokens: 500, messages });
	const turns = Array.from({ length: 14_000 }, (_, at) => ({
		role: at % 2 === 0 ? 'user' : 'assistant',
		content: `Turn number ${at} of the talk.`,
	}));
	const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'iVBORw0KGgoA'.repeat(87_000)}` } };
	const agent = conversation(caller, 1_048_576);
	const shapes = [
		agent,
		short([...turns, { role: 'user', content: 'Go on.' }]),
		short([{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }]),
	];
	const big = { ...agent, metadata: { big: exactJson.rawJSON('12345678901234567890') } };
	return clientDialects[caller].hasArgumentValues ? [...shapes, big] : shapes;
}

/** Conversation of an agent: questions, tool calls, results of some length, replies. */
function conversation(caller: Translation['caller'], bytes: number): JsonObject {
	const messages: JsonObject[] = [];
	let length = 0;
	for (let turn = 0; length < bytes - 300; turn++) {
		const text = 'All work and no play makes Jack a dull boy. "Quoted", \n'.repeat(bytes > 10_000 ? 20 : 2);
		const id = `call_${turn}`;
		const call = { id, type: 'function', function: { name: 'get_weather', arguments: JSON.stringify({ city: 'Oslo', days: turn }) } };
		const added = [
			{ role: 'user', content: text },
			{ role: 'assistant', content: null, tool_calls: [call] },
			{ role: 'tool', tool_call_id: id, content: text },
			{ role: 'assistant', content: text },
		];
		messages.push(...added);
		length += JSON.stringify(added).length;
	}
	messages.push({ role: 'user', content: 'Go on.' });
	const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
	const tools = [{ type: 'function', function: { name: 'get_weather', parameters } }];
	return spoken(caller, { model: 'alias', messages, tools, max_completion_tokens: 500 });
}

/** Converts a chat-completions request to the client's dialect. */
function spoken(caller: Translation['caller'], request: JsonObject): JsonObject {
	if (caller === 'chat') return request;
	return translateRequest('chat', caller, request, { model: samples[caller].models[1], maxOutputTokens: 64_000 }).body;
}

function responseOf(provider: Translation['provider']): JsonObject {
	const { recordings: vendor } = samples[provider];
	const recording = readRecordings(vendor).find((one) => one.name === `${vendor}/text.json`);
	if (recording === undefined) throw new Error(`no recording ${vendor}/text`);
	return recording.response.json as JsonObject;
}
