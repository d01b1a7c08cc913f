/** Guardrails as the stages use them: compiled in the background, driven in slices, their findings told to the operator. */
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type Counter, noMetrics } from '../../core/metrics.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Finding, Stage } from '../../policy/guardrails/guardrail.ts';
import { compileGuardrails, type GuardrailSettings, type Guardrails } from '../../policy/guardrails/guardrails.ts';
import type { Screening } from '../../policy/guardrails/screening.ts';
import type { Assessment } from '../../stores/contracts/assessments.ts';
import type { TextView } from '../../wire/text-view.ts';
import type { GatewayPorts } from './gateway-settings.ts';
import { createGuardrailEngines, type GuardrailEngine } from './guardrail-engines/guardrail-engines.ts';

export interface GuardedCall {
	readonly requestId: string;
	readonly team: string;
}

export type ScreeningOutcome = 'clean' | 'tripped' | 'masked' | 'not_evaluated' | 'engine_failed';

/** Texts are read for so long between two turns of the event loop, and so much between two looks at the clock. */
const readingMs = 3;
const sliceCharacters = 4096;
/** Words are read for so long between two turns. */
const compilingMs = 5;
/** Of texts that wait to be looked at after the fact. Beyond, they are not evaluated, which is told. */
const mostWaitingCharacters = 16 * 1024 * 1024;

/** What tripped, as it is told. */
export interface Trip extends Pick<Finding, 'category' | 'action'> {
	readonly policy: string;
}

/** What was found in some texts. */
export interface Looked {
	readonly screening: Screening;
	readonly trips: readonly Trip[];
}

const engineFailed = '.failed';
/** What callers name is told so often at most. */
const mostUnreadableTypes = 10;

type Found = Pick<Assessment, 'policy' | 'category' | 'action' | 'outcome' | 'count'>;

const foundNothing: Found = { policy: '', category: '', action: 'NONE', outcome: 'clean', count: 1 };

interface Observation {
	readonly call: GuardedCall;
	readonly stage: Stage;
	readonly view: TextView;
	readonly characters: number;
}

export class Guarding {
	readonly isEnforced: boolean;
	readonly #settings: GuardrailSettings;
	readonly #engines: readonly GuardrailEngine[];
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #outcomes: Counter;
	readonly #assessments: Counter;
	readonly #ledger: GatewayPorts['ledger'];
	readonly #waiting: Observation[] = [];
	#waitingCharacters = 0;
	#isWorking = false;
	#compiled: Guardrails | undefined;
	readonly #compiling: Promise<Guardrails>;

	constructor(settings: GuardrailSettings, ports: GatewayPorts) {
		const { clock, log, metrics = noMetrics, upstream, ledger, guardrailEngines = [] } = ports;
		this.#ledger = ledger;
		this.#engines = createGuardrailEngines(guardrailEngines, { upstream, clock, log, metrics });
		this.isEnforced = settings.isEnforced;
		this.#settings = settings;
		this.#clock = clock;
		this.#log = log;
		this.#outcomes = metrics.counter('tollgate_guardrail_screenings_total', 'Screenings by stage and outcome', ['stage', 'outcome']);
		this.#assessments = metrics.counter('tollgate_guardrail_assessments_total', 'Trips of guardrails by stage, policy and action', [
			'stage',
			'policy',
			'action',
		]);
		this.#compiling = this.#compile(compileGuardrails(settings, ports.contentScorer));
	}

	/** Waits only while a long list of words is still being read. */
	get guardrails(): Guardrails | Promise<Guardrails> {
		return this.#compiled ?? this.#compiling;
	}

	/**
	 * Reads what a call says, before it goes on.
	 * @throws Refusal `guardrail_blocked`.
	 */
	async screen(call: GuardedCall, stage: Stage, view: TextView): Promise<Screening> {
		const { screening, trips } = await this.look(call.team, stage, view);
		this.report(call, stage, trips, view);
		this.requirePassing(stage, trips, view);
		return screening;
	}

	/** Reads texts and has engines judge them; tells nobody. */
	async look(team: string, stage: Stage, view: TextView): Promise<Looked> {
		const screening = (await this.guardrails).screen(view.texts, stage, team);
		await this.#read(screening);
		// What is blocked anyway, or masked, is not shown to others.
		const shown = view.texts.map(({ text }, index) => screening.maskedText(index) ?? text);
		const judged = screening.isBlocked ? [] : await this.askEngines(shown, stage);
		return { screening, trips: [...screening.findings, ...judged] };
	}

	/** @throws Refusal `guardrail_blocked`. */
	requirePassing(stage: Stage, trips: readonly Trip[], { unreadable }: Pick<TextView, 'unreadable'>): void {
		const blocking = trips.find(({ action }) => action === 'BLOCK');
		if (blocking !== undefined) throw blocked(stage, blocking);
		if (this.isEnforced && unreadable.length > 0) this.requireReadable(stage, unreadable[0]?.type ?? '');
	}

	/** @throws Refusal `guardrail_blocked` where what cannot be read may not pass. */
	requireReadable(stage: Stage, type: string): void {
		if (this.#settings.unreadable === 'block') throw blocked(stage, { policy: 'unreadable', category: type });
	}

	/** Whether engines are asked at all. */
	get hasEngines(): boolean {
		return this.#engines.length > 0;
	}

	/** Looks at it later, when there is time: the call does not wait. */
	observe(call: GuardedCall, stage: Stage, view: TextView): void {
		const characters = view.texts.reduce((sum, { text }) => sum + text.length, 0);
		if (this.#waitingCharacters + characters > mostWaitingCharacters) {
			this.#outcomes.add(1, { stage, outcome: 'not_evaluated' });
			this.#log.warn('guardrails not evaluated', { requestId: call.requestId, team: call.team, stage, why: 'too much waits' });
			this.#keep(call, stage, [{ policy: 'unreadable', category: 'backlog', action: 'NONE', outcome: 'not_evaluated', count: 1 }]);
			return;
		}
		this.#waiting.push({ call, stage, view, characters });
		this.#waitingCharacters += characters;
		if (this.#isWorking) return;
		this.#isWorking = true;
		this.#clock.after(1, () => void this.#work());
	}

	/** Tells what was found: never the text. */
	report(call: GuardedCall, stage: Stage, findings: readonly Trip[], { unreadable }: Pick<TextView, 'unreadable'>): void {
		this.#outcomes.add(1, { stage, outcome: outcomeOf(findings) });
		if (findings.some(isEngineFailure)) this.#outcomes.add(1, { stage, outcome: 'engine_failed' });
		if (unreadable.length > 0) {
			this.#outcomes.add(1, { stage, outcome: 'not_evaluated' });
			const types = [...new Set(unreadable.map(({ type }) => type))].slice(0, 10);
			this.#log.info('guardrails not evaluated', { requestId: call.requestId, team: call.team, stage, count: unreadable.length, types });
		}
		const found: Found[] = this.#unreadableFound(unreadable);
		const counts = new Map<string, { finding: Trip; count: number }>();
		for (const finding of findings) {
			const key = `${finding.policy} ${finding.category} ${finding.action}`;
			counts.set(key, { finding, count: (counts.get(key)?.count ?? 0) + 1 });
		}
		for (const { finding, count } of counts.values()) {
			const { policy, category, action } = finding;
			this.#assessments.add(1, { stage, policy, action });
			found.push({
				policy,
				category,
				action,
				outcome: isEngineFailure(finding) ? 'failed' : action === 'MASK' ? 'masked' : 'tripped',
				count,
			});
			this.#log.info('guardrail assessment', { requestId: call.requestId, team: call.team, stage, policy, category, action, count });
		}
		this.#keep(call, stage, found.length === 0 ? [foundNothing] : found);
	}

	/**
	 * Never longer than the engines' own limits. Their categories bear their names.
	 * @param onClientGone as an engine has it.
	 */
	async askEngines(texts: readonly string[], stage: Stage, onClientGone?: (listener: () => void) => void): Promise<readonly Trip[]> {
		if (this.#engines.length === 0 || texts.length === 0) return [];
		const asked = this.#engines.map(async (engine): Promise<readonly Trip[]> => {
			const judgement = await engine.judge(texts, stage, onClientGone);
			const tell = (category: string, blocks: boolean): Trip => ({
				policy: 'engine',
				category: `${engine.name}.${category}`,
				action: blocks && this.isEnforced ? 'BLOCK' : 'NONE',
			});
			const trips = judgement.findings.map(({ category, isSure }) => tell(category, isSure));
			return judgement.outcome === 'failed' ? [...trips, tell('failed', judgement.isBlocking)] : trips;
		});
		return (await Promise.all(asked)).flat();
	}

	#unreadableFound(unreadable: TextView['unreadable']): Found[] {
		if (unreadable.length === 0) return [];
		const action = this.isEnforced && this.#settings.unreadable === 'block' ? 'BLOCK' : 'NONE';
		const byType = [...Map.groupBy(unreadable, ({ type }) => type)].slice(0, mostUnreadableTypes);
		return byType.map(([category, some]) => ({ policy: 'unreadable', category, action, outcome: 'not_evaluated', count: some.length }));
	}

	#keep({ requestId, team }: GuardedCall, stage: Stage, found: readonly Found[]): void {
		const atMs = this.#clock.nowMs();
		this.#ledger.assess(found.map((one) => ({ requestId, atMs, team, stage, ...one })));
	}

	async #compile(steps: Generator<void, Guardrails>): Promise<Guardrails> {
		for (let sinceMs = this.#clock.monotonicMs(); ; ) {
			const step = steps.next();
			if (step.done === true) {
				this.#compiled = step.value;
				return step.value;
			}
			if (this.#clock.monotonicMs() - sinceMs < compilingMs) continue;
			await this.#turn();
			sinceMs = this.#clock.monotonicMs();
		}
	}

	async #work(): Promise<void> {
		const guardrails = await this.guardrails;
		for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
			const { call, stage, view, characters } = next;
			const screening = guardrails.screen(view.texts, stage, call.team);
			await this.#turn();
			await this.#read(screening);
			const texts = view.texts.map(({ text }) => text);
			const conclude = (judged: readonly Trip[]): void => {
				this.#waitingCharacters -= characters;
				this.report(call, stage, [...screening.findings, ...judged], view);
			};
			// One that thinks long keeps nobody waiting but this one.
			if (this.hasEngines) void this.askEngines(texts, stage).then(conclude);
			else conclude([]);
		}
		this.#isWorking = false;
	}

	async #read(screening: Screening): Promise<void> {
		for (let sinceMs = this.#clock.monotonicMs(); !screening.run(sliceCharacters); ) {
			if (this.#clock.monotonicMs() - sinceMs < readingMs) continue;
			await this.#turn();
			sinceMs = this.#clock.monotonicMs();
		}
	}

	#turn(): Promise<void> {
		return new Promise((resolve) => {
			this.#clock.after(0, resolve);
		});
	}
}

export function blocked(stage: Stage, { policy, category }: { readonly policy: string; readonly category: string }): Refusal {
	const where = stage === 'input' ? 'The request' : 'The answer';
	return new Refusal('guardrail_blocked', {
		message: `${where} was blocked by guardrails: policy \`${policy}\`, category \`${category}\``,
	});
}

function isEngineFailure({ policy, category }: Trip): boolean {
	return policy === 'engine' && category.endsWith(engineFailed);
}

function outcomeOf(findings: readonly Trip[]): ScreeningOutcome {
	if (findings.length === 0) return 'clean';
	return findings.some(({ action }) => action === 'MASK') && findings.every(({ action }) => action !== 'BLOCK') ? 'masked' : 'tripped';
}
