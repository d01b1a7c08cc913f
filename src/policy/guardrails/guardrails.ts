/** Guardrails of one configuration, compiled once and shared by all requests. */
import { type ContentCategory, type ContentStrength, contentCategories, thresholdsOf } from './content/content-category.ts';
import { beginVisibleReading, type ContentScorer } from './content/content-scorer.ts';
import type { Classification, Policy, RuleAction, SpanDetector, Stage, TextClassifier } from './guardrail.ts';
import { HeldBackWindow } from './held-back-window.ts';
import { createPatternDetector, type PatternSettings } from './patterns/pattern-detector.ts';
import { createPiiDetector } from './pii/pii-detector.ts';
import { type PiiKind, piiKinds } from './pii/pii-kind.ts';
import { ruleActionsOf } from './rule-actions.ts';
import { BufferedSegment } from './segments/buffered-segment.ts';
import { type EvaluatedText, TextEvaluation } from './text-evaluation.ts';
import { TextScan } from './text-scan.ts';
import { createTopicClassifier, type TopicSettings } from './topics/topic-classifier.ts';
import { type RuleActions, Verdicts, type VerdictTerms } from './verdicts.ts';
import { buildWordDetector } from './words/word-list.ts';

export interface GuardrailSettings {
	/** Enforces the actions; otherwise everything is evaluated and only logged. */
	readonly isEnforced: boolean;
	readonly content: Readonly<Record<ContentCategory, { readonly strength: ContentStrength; readonly action: RuleAction }>>;
	readonly pii: Readonly<Record<PiiKind, RuleAction>>;
	/** Masks responses as well as requests; otherwise findings in responses are only logged. */
	readonly masksResponses: boolean;
	readonly words: { readonly entries: readonly string[]; readonly action: RuleAction };
	readonly patterns: readonly (PatternSettings & { readonly action: RuleAction })[];
	readonly topics: readonly (TopicSettings & { readonly action: RuleAction })[];
	/** Action for unreadable content under enforcement. */
	readonly unreadable: 'pass' | 'block';
	/** Rules in monitor mode, such as `pii.email` or `moderation.NAME`. */
	readonly monitored: readonly string[];
	/** Overriding rules by team. */
	readonly teams: Readonly<Record<string, RuleActions>>;
}

/** Compiles the settings in steps. @param scorer for the content policy, which is not evaluated without one. */
export function* compileGuardrails(settings: GuardrailSettings, scorer: ContentScorer | undefined): Generator<void, Guardrails> {
	const detectors: { policies: readonly Policy[]; detector: SpanDetector }[] = [];
	const wanted = new Set(piiKinds.filter((kind) => isWanted(settings, 'pii', kind, settings.pii[kind])));
	if (wanted.size > 0) detectors.push({ policies: ['pii'], detector: createPiiDetector(wanted) });
	if (settings.words.entries.length > 0) {
		detectors.push({ policies: ['words'], detector: yield* buildWordDetector(settings.words.entries) });
	}
	if (settings.patterns.length > 0) detectors.push({ policies: ['patterns'], detector: createPatternDetector(settings.patterns) });
	return new Guardrails(settings, detectors, classifiersOf(settings, scorer));
}

function isWanted(settings: GuardrailSettings, policy: Policy, category: string, action: RuleAction): boolean {
	const isOn = (one: RuleAction | undefined): boolean => one !== undefined && one !== 'none';
	return isOn(action) || Object.values(settings.teams).some((rules) => isOn(rules[`${policy}.${category}`] ?? rules[policy]));
}

function classifiersOf(settings: GuardrailSettings, scorer: ContentScorer | undefined): ReadonlyMap<Policy, TextClassifier> {
	const classifiers = new Map<Policy, TextClassifier>();
	const classifiesContent = contentCategories.some((category) => thresholdsOf(settings.content[category].strength) !== undefined);
	if (scorer !== undefined && classifiesContent) classifiers.set('content', contentClassifier(settings, scorer));
	if (settings.topics.length > 0) classifiers.set('topics', createTopicClassifier(settings.topics));
	return classifiers;
}

function contentClassifier({ content }: GuardrailSettings, scorer: ContentScorer): TextClassifier {
	return {
		begin() {
			const reading = beginVisibleReading(scorer);
			return {
				add: (piece) => reading.add(piece),
				classify(isOver) {
					const scores = isOver ? reading.end() : reading.scores();
					const classifications: Classification[] = [];
					for (const category of contentCategories) {
						const thresholds = thresholdsOf(content[category].strength);
						if (thresholds === undefined || scores[category] < thresholds.log) continue;
						classifications.push({ policy: 'content', category, isSure: scores[category] >= thresholds.block });
					}
					return classifications;
				},
			};
		},
	};
}

/** Detectors and judges for texts that are not held back. */
interface OverlapScan {
	readonly detectors: readonly SpanDetector[];
	readonly classifiers: readonly TextClassifier[];
}

export class Guardrails {
	readonly settings: GuardrailSettings;
	readonly #detectors: readonly { readonly policies: readonly Policy[]; readonly detector: SpanDetector }[];
	readonly #classifiers: ReadonlyMap<Policy, TextClassifier>;
	readonly #actions: ReadonlyMap<string, RuleAction>;
	readonly #terms: VerdictTerms;
	readonly #usual: OverlapScan;
	/** Guardrails of teams with rules of their own. */
	readonly #special: ReadonlyMap<string, OverlapScan>;

	/** Use `compileGuardrails`. */
	constructor(
		settings: GuardrailSettings,
		detectors: readonly { readonly policies: readonly Policy[]; readonly detector: SpanDetector }[],
		classifiers: ReadonlyMap<Policy, TextClassifier>,
	) {
		this.settings = settings;
		this.#detectors = detectors;
		this.#classifiers = classifiers;
		this.#actions = ruleActionsOf(settings);
		this.#terms = { ...settings, monitored: new Set(settings.monitored) };
		this.#usual = this.#scanningUnder({});
		this.#special = new Map(Object.entries(settings.teams).map(([team, rules]) => [team, this.#scanningUnder(rules)]));
	}

	/** Begins to evaluate complete texts. */
	evaluate(texts: readonly EvaluatedText[], stage: Stage, team: string): TextEvaluation {
		const verdicts = this.#verdicts(stage, team);
		const { detectors, classifiers } = this.#special.get(team) ?? this.#usual;
		return new TextEvaluation(texts, verdicts, {
			createScan: (isJson, context) => new TextScan(detectors, isJson, context),
			beginClassifying: () => classifiers.map((classify) => classify.begin()),
		});
	}

	/** Creates the guard for texts of a stream that can be read as one, under enforcement. */
	bufferSegment(isJson: boolean, team: string): BufferedSegment {
		return new BufferedSegment((context) => this.createHeldBackWindow(isJson, team, context));
	}

	/** Creates the guard for one text of a stream, under enforcement. @param context beginning of the text, which was evaluated before. */
	createHeldBackWindow(isJson: boolean, team: string, context = ''): HeldBackWindow {
		const verdicts = this.#verdicts('output', team);
		const isStopping = (policy: Policy): boolean => this.#isAny(policy, (category) => verdicts.canStop(policy, category));
		const isNoting = (policy: Policy): boolean => this.#isOn(verdicts, policy);
		const classified = this.#classifiersOf(isNoting).map((classify) => classify.begin());
		const buffering = this.#detectors.filter(({ policies: of }) => of.some(isStopping));
		const noting = this.#detectors.filter((one) => !buffering.includes(one) && one.policies.some(isNoting));
		return new HeldBackWindow({
			scan: new TextScan(detectorsOf(buffering), isJson, context),
			noted: noting.length === 0 ? undefined : new TextScan(detectorsOf(noting), isJson, context),
			classified,
			isSentenceBuffered: [...this.#classifiers.keys()].some(isStopping),
			verdicts,
			isJson,
			context,
		});
	}

	/** Returns the configured action, whether or not guardrails are enforced. */
	ruleOf(policy: Policy, category: string, team: string): RuleAction {
		return this.#verdicts('input', team).actionOf(policy, category);
	}

	#scanningUnder(rules: RuleActions): OverlapScan {
		const verdicts = new Verdicts(this.#actions, rules, 'input', this.#terms);
		const isOn = (policy: Policy): boolean => this.#isOn(verdicts, policy);
		return { detectors: detectorsOf(this.#detectors.filter(({ policies: of }) => of.some(isOn))), classifiers: this.#classifiersOf(isOn) };
	}

	#verdicts(stage: Stage, team: string): Verdicts {
		return new Verdicts(this.#actions, this.settings.teams[team] ?? {}, stage, this.#terms);
	}

	#classifiersOf(isWantedPolicy: (policy: Policy) => boolean): readonly TextClassifier[] {
		return [...this.#classifiers].filter(([policy]) => isWantedPolicy(policy)).map(([, classify]) => classify);
	}

	#isOn(verdicts: Verdicts, policy: Policy): boolean {
		return this.#isAny(policy, (category) => verdicts.actionOf(policy, category) !== 'none');
	}

	#isAny(policy: Policy, is: (category: string) => boolean): boolean {
		for (const rule of this.#actions.keys()) {
			if (rule.startsWith(`${policy}.`) && is(rule.slice(policy.length + 1))) return true;
		}
		return false;
	}
}

function detectorsOf(detectors: readonly { readonly detector: SpanDetector }[]): readonly SpanDetector[] {
	return detectors.map(({ detector }) => detector);
}
