/** Guardrails as the stages use them: compiled in the background, run in slices, findings reported to the operator. */
import type { Clock } from '../../core/clock.ts';
import { yieldToEventLoop } from '../../core/cooperative-task.ts';
import type { Log } from '../../core/log.ts';
import { type Counter, noMetrics } from '../../core/metrics.ts';
import { Rejection } from '../../core/rejection.ts';
import type { MonitoredCode } from '../../core/request-record.ts';
import type { Stage } from '../../policy/guardrails/guardrail.ts';
import type { GuardrailSettings, Guardrails } from '../../policy/guardrails/guardrails.ts';
import { isEnforcedFor } from '../../policy/guardrails/rule-actions.ts';
import type { TextEvaluation } from '../../policy/guardrails/text-evaluation.ts';
import type { Assessment } from '../../stores/contracts/assessments.ts';
import type { TextView } from '../../wire/text-view.ts';
import type { GatewayPorts } from './gateway-settings.ts';
import { createModerationProviders } from './moderation/create-moderation-providers.ts';
import { isModerationFailure, ModerationDispatcher, type Violation } from './moderation/moderation-dispatcher.ts';

export interface GuardedRequest {
	readonly requestId: string;
	readonly team: string;
	/** Receives what monitored rules would have done. Undefined: the request has no record. */
	readonly effects?: MonitoredEffects | undefined;
}

export interface MonitoredEffects {
	monitor(code: MonitoredCode): void;
	/** Delays the record of the request until an evaluation has ended that no request waits for. @param evaluation never rejects. */
	waitFor(evaluation: Promise<void>): void;
}

export type EvaluationOutcome = 'clean' | 'matched' | 'masked' | 'not_evaluated' | 'moderation_failed';

/** Maximum time of reading between two yields to the event loop; `sliceCharacters` are read between two clock checks. */
const readingMs = 2;
/** Share of it in the turn in which a request arrived, because others may have arrived in the same turn. */
const beginningMs = 0.5;
const sliceCharacters = 1024;
/** Maximum time of compiling word lists between two yields. */
const compilingMs = 5;
/** Maximum queue of texts for monitoring. Texts beyond it are not evaluated, which is reported. */
const maxWaitingCharacters = 16 * 1024 * 1024;

/** Evaluation of some texts. */
export interface Evaluation {
	readonly evaluation: TextEvaluation;
	readonly violations: readonly Violation[];
}

/** Maximum number of reported content types, because clients choose them. */
const maxUnreadableTypes = 10;

type Found = Pick<Assessment, 'policy' | 'category' | 'action' | 'outcome' | 'count'>;

const cleanAssessment: Found = { policy: '', category: '', action: 'NONE', outcome: 'clean', count: 1 };

interface Observation {
	readonly inferenceRequest: GuardedRequest;
	readonly stage: Stage;
	readonly view: TextView;
	readonly characters: number;
	readonly onEnd: () => void;
}

export class GuardrailRunner {
	readonly #settings: GuardrailSettings;
	/** Moderation providers. `enforce` and `evaluate` send them complete texts, stream guards send pieces. */
	readonly moderationProviders: ModerationDispatcher;
	readonly #clock: Clock;
	readonly #log: Log;
	readonly #isEnforced: boolean;
	/** Teams with rules of their own. */
	readonly #isEnforcedForTeams: ReadonlyMap<string, boolean>;
	readonly #outcomes: Counter;
	readonly #assessments: Counter;
	readonly #ledger: GatewayPorts['ledger'];
	readonly #waiting: Observation[] = [];
	#waitingCharacters = 0;
	#isWorking = false;
	#compiled: Guardrails | undefined;
	readonly #compiling: Promise<Guardrails>;

	constructor(settings: GuardrailSettings, ports: GatewayPorts) {
		const { clock, log, metrics = noMetrics, upstream, ledger, moderationProviders = [] } = ports;
		this.#ledger = ledger;
		this.moderationProviders = new ModerationDispatcher(
			createModerationProviders(moderationProviders, { upstream, clock, log, metrics }),
			settings,
		);
		const enforces = (team: string): boolean => isEnforcedFor(team, settings, moderationProviders);
		this.#isEnforced = enforces('');
		this.#isEnforcedForTeams = new Map(Object.keys(settings.teams).map((team) => [team, enforces(team)]));
		this.#settings = settings;
		this.#clock = clock;
		this.#log = log;
		this.#outcomes = metrics.counter('tollgate_guardrail_evaluations_total', 'Guardrail evaluations by stage and outcome.', [
			'stage',
			'outcome',
		]);
		this.#assessments = metrics.counter('tollgate_guardrail_assessments_total', 'Guardrail matches by stage, policy and action.', [
			'stage',
			'policy',
			'action',
		]);
		this.#compiling = this.#compile(settings, ports.contentScorer);
		// Callers that wait for the guardrails get the error as well.
		this.#compiling.catch((cause: unknown) => log.error('guardrails cannot be compiled', { cause }));
	}

	/** False: guardrails change nothing for the team, because all rules that could are in monitor mode. */
	isEnforced(team: string): boolean {
		return this.#isEnforcedForTeams.get(team) ?? this.#isEnforced;
	}

	/** Pending only while word lists are being compiled. */
	get guardrails(): Guardrails | Promise<Guardrails> {
		return this.#compiled ?? this.#compiling;
	}

	/**
	 * Evaluates the texts of a request before it continues.
	 * @throws `Rejection` `guardrail_blocked`.
	 */
	async enforce(inferenceRequest: GuardedRequest, stage: Stage, view: TextView): Promise<TextEvaluation> {
		const { evaluation, violations } = await this.evaluate(inferenceRequest, stage, view);
		this.report(inferenceRequest, stage, violations, view);
		this.requirePassing(stage, violations, view);
		this.recordModeration(inferenceRequest, stage, textsOf(view, evaluation));
		return evaluation;
	}

	/** Evaluates texts, also by the moderation providers that may block them; reports nothing. */
	async evaluate(inferenceRequest: GuardedRequest, stage: Stage, view: TextView): Promise<Evaluation> {
		const evaluation = (await this.guardrails).evaluate(view.texts, stage, inferenceRequest.team);
		await this.#read(evaluation);
		// Blocked texts are not sent to moderation providers.
		const violations = evaluation.isBlocked
			? []
			: await this.moderationProviders.evaluate(
					this.moderationProviders.stopping(inferenceRequest.team),
					textsOf(view, evaluation),
					stage,
					inferenceRequest,
				);
		return { evaluation, violations: [...evaluation.findings, ...violations] };
	}

	/** Sends texts that are already released to monitoring moderation providers, and reports their findings. */
	recordModeration(inferenceRequest: GuardedRequest, stage: Stage, texts: readonly string[]): void {
		const moderationProviders = this.moderationProviders.noting(inferenceRequest.team);
		if (moderationProviders.length === 0) return;
		const evaluation = this.moderationProviders
			.evaluate(moderationProviders, texts, stage, inferenceRequest)
			.then((violations) => {
				if (violations.length > 0) this.#keep(inferenceRequest, stage, this.#countFindings(inferenceRequest, stage, violations));
			})
			.catch((cause: unknown) => this.failed(inferenceRequest, stage, cause));
		inferenceRequest.effects?.waitFor(evaluation);
	}

	/** @throws `Rejection` `guardrail_blocked`. */
	requirePassing(stage: Stage, violations: readonly Violation[], { unreadable }: Pick<TextView, 'unreadable'>): void {
		const blocking = violations.find(({ action }) => action === 'BLOCK');
		if (blocking !== undefined) throw blocked(stage, blocking);
		if (this.#settings.isEnforced && unreadable.length > 0) this.requireReadable(stage, unreadable[0]?.type ?? '');
	}

	/** @throws `Rejection` `guardrail_blocked` if unreadable content is blocked. */
	requireReadable(stage: Stage, type: string): void {
		if (this.#settings.unreadable === 'block') throw blocked(stage, { policy: 'unreadable', category: type });
	}

	/** Queues texts for evaluation without delaying the request. */
	observe(inferenceRequest: GuardedRequest, stage: Stage, view: TextView): void {
		const characters = view.texts.reduce((sum, { text }) => sum + text.length, 0);
		if (this.#waitingCharacters + characters > maxWaitingCharacters) {
			this.#outcomes.add(1, { stage, outcome: 'not_evaluated' });
			this.#log.warn('guardrails not evaluated', {
				requestId: inferenceRequest.requestId,
				team: inferenceRequest.team,
				stage,
				reason: 'the evaluation queue is full',
			});
			this.#keep(inferenceRequest, stage, [
				{ policy: 'unreadable', category: 'backlog', action: 'NONE', outcome: 'not_evaluated', count: 1 },
			]);
			return;
		}
		const { promise, resolve } = Promise.withResolvers<void>();
		inferenceRequest.effects?.waitFor(promise);
		this.#waiting.push({ inferenceRequest, stage, view, characters, onEnd: resolve });
		this.#waitingCharacters += characters;
		if (this.#isWorking) return;
		this.#isWorking = true;
		this.#clock.after(1, () => void this.#work());
	}

	/** Reports findings, never the text. */
	report(
		inferenceRequest: GuardedRequest,
		stage: Stage,
		findings: readonly Violation[],
		{ unreadable }: Pick<TextView, 'unreadable'>,
	): void {
		this.#outcomes.add(1, { stage, outcome: outcomeOf(findings) });
		if (unreadable.length > 0) {
			this.#outcomes.add(1, { stage, outcome: 'not_evaluated' });
			const types = [...new Set(unreadable.map(({ type }) => type))].slice(0, 10);
			this.#log.info('guardrails not evaluated', {
				requestId: inferenceRequest.requestId,
				team: inferenceRequest.team,
				stage,
				count: unreadable.length,
				types,
			});
		}
		const found = [...this.#unreadableFound(unreadable), ...this.#countFindings(inferenceRequest, stage, findings)];
		this.#keep(inferenceRequest, stage, found.length === 0 ? [cleanAssessment] : found);
	}

	#countFindings(inferenceRequest: GuardedRequest, stage: Stage, findings: readonly Violation[]): Found[] {
		if (findings.some(isModerationFailure)) this.#outcomes.add(1, { stage, outcome: 'moderation_failed' });
		const found: Found[] = [];
		const counts = new Map<string, { finding: Violation; count: number }>();
		for (const finding of findings) {
			const key = `${finding.policy} ${finding.category} ${finding.action} ${finding.monitored}`;
			counts.set(key, { finding, count: (counts.get(key)?.count ?? 0) + 1 });
		}
		for (const { finding, count } of counts.values()) {
			const { policy, category, action, monitored } = finding;
			if (monitored !== undefined) inferenceRequest.effects?.monitor(monitored === 'MASK' ? 'guardrail_masked' : 'guardrail_blocked');
			this.#assessments.add(1, { stage, policy, action });
			found.push({
				policy,
				category,
				action,
				outcome: isModerationFailure(finding) ? 'failed' : action === 'MASK' ? 'masked' : 'matched',
				count,
			});
			this.#log.info('guardrail assessment', {
				requestId: inferenceRequest.requestId,
				team: inferenceRequest.team,
				stage,
				policy,
				category,
				action,
				monitored,
				count,
			});
		}
		return found;
	}

	#unreadableFound(unreadable: TextView['unreadable']): Found[] {
		if (unreadable.length === 0) return [];
		const action = this.#settings.isEnforced && this.#settings.unreadable === 'block' ? 'BLOCK' : 'NONE';
		const byType = [...Map.groupBy(unreadable, ({ type }) => type)].slice(0, maxUnreadableTypes);
		return byType.map(([category, some]) => ({ policy: 'unreadable', category, action, outcome: 'not_evaluated', count: some.length }));
	}

	#keep({ requestId, team }: GuardedRequest, stage: Stage, found: readonly Found[]): void {
		const atMs = this.#clock.nowMs();
		this.#ledger.assess(found.map((one) => ({ requestId, atMs, team, stage, ...one })));
	}

	async #compile(settings: GuardrailSettings, scorer: GatewayPorts['contentScorer']): Promise<Guardrails> {
		// Loaded on demand: a gateway without guardrails does not need this data.
		const { compileGuardrails } = await import('../../policy/guardrails/guardrails.ts');
		const steps = compileGuardrails(settings, scorer);
		for (let sinceMs = this.#clock.monotonicMs(); ; ) {
			const step = steps.next();
			if (step.done === true) {
				this.#compiled = step.value;
				return step.value;
			}
			if (this.#clock.monotonicMs() - sinceMs < compilingMs) continue;
			await yieldToEventLoop();
			sinceMs = this.#clock.monotonicMs();
		}
	}

	async #work(): Promise<void> {
		for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
			const read = this.#readLater(next);
			// A slow moderation provider delays no other texts.
			void this.#conclude(next, read);
			await read.catch(() => undefined);
		}
		this.#isWorking = false;
	}

	async #readLater({ inferenceRequest, stage, view }: Observation): Promise<TextEvaluation> {
		const evaluation = (await this.guardrails).evaluate(view.texts, stage, inferenceRequest.team);
		await yieldToEventLoop();
		await this.#read(evaluation);
		return evaluation;
	}

	/** Never rejects, because monitoring must not harm the request. */
	async #conclude({ inferenceRequest, stage, view, characters, onEnd }: Observation, read: Promise<TextEvaluation>): Promise<void> {
		try {
			const { findings } = await read;
			const texts = view.texts.map(({ text }) => text);
			const violations = await this.moderationProviders.evaluate(
				this.moderationProviders.noting(inferenceRequest.team),
				texts,
				stage,
				inferenceRequest,
			);
			this.report(inferenceRequest, stage, [...findings, ...violations], view);
		} catch (cause) {
			this.failed(inferenceRequest, stage, cause);
		} finally {
			this.#waitingCharacters -= characters;
			onEnd();
		}
	}

	/** Reports an internal error that left texts unevaluated. */
	failed({ requestId, team }: GuardedRequest, stage: Stage, cause: unknown): void {
		this.#outcomes.add(1, { stage, outcome: 'not_evaluated' });
		this.#log.error('guardrails not evaluated', { requestId, team, stage, cause });
	}

	async #read(evaluation: TextEvaluation): Promise<void> {
		for (let sinceMs = this.#clock.monotonicMs() - readingMs + beginningMs; !evaluation.run(sliceCharacters); ) {
			if (this.#clock.monotonicMs() - sinceMs < readingMs) continue;
			await yieldToEventLoop();
			sinceMs = this.#clock.monotonicMs();
		}
	}
}

export function blocked(stage: Stage, { policy, category }: { readonly policy: string; readonly category: string }): Rejection {
	const where = stage === 'input' ? 'The request' : 'The response';
	return new Rejection('guardrail_blocked', {
		message: `${where} was blocked by guardrails: policy \`${policy}\`, category \`${category}\``,
	});
}

/** Returns the texts to send to others, with masks applied. */
function textsOf({ texts }: TextView, evaluation: TextEvaluation): string[] {
	return texts.map(({ text }, index) => evaluation.maskedText(index) ?? text);
}

function outcomeOf(findings: readonly Violation[]): EvaluationOutcome {
	if (findings.length === 0) return 'clean';
	return findings.some(({ action }) => action === 'MASK') && findings.every(({ action }) => action !== 'BLOCK') ? 'masked' : 'matched';
}
