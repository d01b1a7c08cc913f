/**
 * `node bench/guardrails.ts`: CPU time of the built-in guardrails, together and with one policy alone. All of them are content, the default
 * kinds of personal data, a hundred words and five topics. `npm run bench` appends the output to its report.
 */
import { contentScorerFor, guardrailSettings } from '../src/composition/guardrail-component.ts';
import { parseConfig } from '../src/config/load.ts';
import { compileGuardrails, type GuardrailSettings, type Guardrails } from '../src/policy/guardrails/guardrails.ts';
import { clientDialects } from '../src/wire/dialects/dialects.ts';
import { parseBody } from '../src/wire/json/parse-body.ts';
import { workedMs } from '../test/support/cpu-ms.ts';
import { chatRequest } from './workloads.ts';

const prose =
	'The quarterly figures came in on Tuesday, and most of the 14 teams were satisfied. Marketing wants a second opinion on the ' +
	'forecast for 2027; the engineers (version 2.4.1) would rather fix the build. Could you summarise what was said, list the open ' +
	'points and draft a short, friendly reply that thanks everybody? Keep it below 120 words.\n';
const words = Array.from({ length: 100 }, (_, index) => `codeword ${String.fromCharCode(97 + (index % 26))}xq${index}`);
const topics = ['gambling', 'weapons', 'elections', 'investment advice', 'medical advice'].map((name) => ({
	name,
	description: `Anything about ${name}`,
	examples: [`Tell me more about ${name} for beginners`],
}));

const all = settingsOf({ words, topics, topics_when: 'always' });
const none = { content: { enabled: false }, pii: { enabled: false } };
const allOn = compile(all);
const cases: readonly (readonly [string, Guardrails])[] = [
	['all on', allOn],
	['content', compile(settingsOf({ ...none, content: {} }))],
	['personal data', compile(settingsOf({ ...none, pii: {} }))],
	['words', compile(settingsOf({ ...none, words }))],
	['topics', compile(settingsOf({ ...none, topics, topics_when: 'always' }))],
];
const { chat } = clientDialects;
const long = prose.repeat(Math.ceil(1_000_000 / prose.length));
const written = prose.repeat(4).slice(0, 950);
const whole = membersWith(written);
const inTwoParts = membersWith([written.slice(0, 475), written.slice(475)].map((part) => ({ type: 'text', text: part })));

console.log('guardrails, CPU time\n');
console.log('| policies | 1 KB call, us | its text in two parts, us | long text, MB/s | held-back stream, us an event of 4 characters |');
console.log('|---|---|---|---|---|');
for (const [name, guardrails] of cases) {
	const [requestUs = 0, partsUs = 0] = [whole, inTwoParts].map((members) =>
		timeOf(2000, () => void guardrails.evaluate(chat.textViews.request(members).texts, 'input', 'team').run(1e9)),
	);
	const longUs = timeOf(5, () => void guardrails.evaluate([{ text: long, isJson: false }], 'input', 'team').run(1e9));
	const events = prose.match(/[\s\S]{1,4}/g) ?? [];
	const streamUs = timeOf(50, () => {
		const window = guardrails.createHeldBackWindow(false, 'team');
		for (const event of events) window.push(event);
		window.end();
	});
	const measurements = [requestUs.toFixed(1), partsUs.toFixed(1), (long.length / longUs).toFixed(1), (streamUs / events.length).toFixed(2)];
	console.log(`| ${name} | ${measurements.join(' | ')} |`);
}

const hostile = ['a', 'a ', '(((', '4111 ', '1', '@', '&#9', '.', 'call 1 2 3 4 5 6 7 '].map((unit) => unit.repeat(100_000 / unit.length));
const maxLength = hostile.map((text) => maxSliceLength(text));
console.log(`\nLongest slice of 1 K characters in 100 KB of hostile text: ${Math.max(...maxLength).toFixed(1)} ms`);

const many = Array.from({ length: 100_000 }, (_, index) => `${(index * 7919).toString(36)}word${(index * 104_729).toString(36)}`);
const before = process.cpuUsage();
const steps = compileGuardrails(settingsOf({ ...none, words: many }), undefined);
let maxStepMs = 0;
let step = steps.next();
while (step.done !== true) {
	maxStepMs = Math.max(
		maxStepMs,
		workedMs(() => (step = steps.next())),
	);
}
const built = process.cpuUsage(before);
const list = step.value;
const listUs = timeOf(5, () => void list.evaluate([{ text: long, isJson: false }], 'input', 'team').run(1e9));
console.log(
	`100,000 words: built in ${((built.user + built.system) / 1000).toFixed(0)} ms, longest step ${maxStepMs.toFixed(1)} ms; ` +
		`1 MB read in ${(listUs / 1000).toFixed(1)} ms`,
);

function settingsOf(guardrails: object): GuardrailSettings {
	const file = JSON.stringify({ enable_guardrails: true, enforce_guardrails: true, guardrails });
	const settings = guardrailSettings(parseConfig(file, { file: 'bench.yaml', env: {} }).config);
	if (settings === undefined) throw new Error('guardrails are off');
	return settings;
}

/** Members of a request of about 1 KB. */
function membersWith(content: unknown): ReturnType<typeof parseBody>['members'] {
	const call = JSON.parse(chatRequest(1024)) as { messages: { content: unknown }[] };
	call.messages[0] = { ...call.messages[0], content };
	return parseBody(Buffer.from(JSON.stringify(call)), new Set()).members;
}

function compile(settings: GuardrailSettings): Guardrails {
	const compiling = compileGuardrails(settings, contentScorerFor(settings));
	for (;;) {
		const next = compiling.next();
		if (next.done === true) return next.value;
	}
}

/** Best of seven rounds, in microseconds of CPU. */
function timeOf(repetitions: number, work: () => void): number {
	let best = Number.POSITIVE_INFINITY;
	for (let round = 0; round < 7; round++) {
		const start = process.cpuUsage();
		for (let index = 0; index < repetitions; index++) work();
		const { user, system } = process.cpuUsage(start);
		best = Math.min(best, (user + system) / repetitions);
	}
	return best;
}

function maxSliceLength(text: string): number {
	let best = Number.POSITIVE_INFINITY;
	for (let round = 0; round < 3; round++) {
		const evaluation = allOn.evaluate([{ text, isJson: false }], 'input', 'team');
		let maxMs = 0;
		for (let isDone = false; !isDone; ) {
			const sliceMs = workedMs(() => (isDone = evaluation.run(1024)));
			maxMs = Math.max(maxMs, sliceMs);
		}
		best = Math.min(best, maxMs);
	}
	return best;
}
