/**
 * Repairs of requests that are sent in the client's own format. Models reject some parameters that older ones take; where such a parameter
 * has one meaning, it is renamed or removed, and every other byte stays.
 */
import type { ClientDialectName } from '../core/dialect-name.ts';
import { remembering } from '../core/remembering.ts';
import type { Steps } from '../core/steps.ts';
import type { ModelFacts } from './conversation/model-facts.ts';
import { chatModel } from './dialects/chat/model.ts';
import { claudeModel, lastSamplingVersion } from './dialects/messages/model.ts';
import { cutValues, locateValues } from './json/locate-values.ts';
import { type JsonBody, type JsonObject, parsingSteps } from './json/parse-body.ts';
import { type Edit, spliceBody } from './json/splice-body.ts';

/** The model of a request, as far as its repair depends on it. */
export interface RepairTarget {
	readonly format: ClientDialectName;
	/** The vendor's name of the model. */
	readonly knownAs: string;
	/** Whether the vendor is known to have a model of this name. What a name only looks like is no reason to change a request. */
	readonly isListed: () => boolean;
	/** What the operator says of the model; decides over its name. */
	readonly said: Pick<ModelFacts, 'tokenParam' | 'sampling'>;
	/** The version of Anthropic's API that the request is sent with. */
	readonly anthropicVersion: () => string | undefined;
}

/** What to do with a request. */
export interface Repair {
	/** Top-level members to remove. */
	readonly removed: readonly string[];
	/** Whether `max_tokens` gets the name `max_completion_tokens`. */
	readonly renamesCap: boolean;
	/** A sentence for each, in the form of `RequestWarnings`. */
	readonly warnings: readonly string[];
}

/** Regular expressions over names, once a name. */
const chatModelOf = remembering(1000, chatModel);
const claudeModelOf = remembering(1000, claudeModel);

/** @returns undefined where the request stays as it is. */
export function findRepair(members: JsonObject, target: RepairTarget): Repair | undefined {
	return target.format === 'chat' ? repairOfChat(members, target) : repairOfMessages(members, target);
}

/** The repaired body. @param wanted as for `parseBody`. */
export function* repairingSteps({ bytes }: JsonBody, { removed, renamesCap }: Repair, wanted: ReadonlySet<string>): Steps<JsonBody> {
	const cuts = cutValues(
		bytes,
		removed.map((name) => [name]),
	);
	const repaired = spliceBody(bytes, renamesCap ? [...cuts, ...renameMember(bytes, 'max_tokens', 'max_completion_tokens')] : cuts);
	yield;
	return yield* parsingSteps(repaired, wanted);
}

function repairOfChat(members: JsonObject, { knownAs, isListed, said }: RepairTarget): Repair | undefined {
	const { max_tokens, max_completion_tokens, temperature, top_p, reasoning_effort } = members;
	const hasCap = isGiven(max_tokens);
	if (!hasCap && temperature === undefined && top_p === undefined) return undefined;
	const named = isListed() ? chatModelOf(knownAs) : undefined;
	const rejectsCap = hasCap && (said.tokenParam ?? named?.tokenParam) === 'max_completion_tokens';
	// Newer reasoning models sample freely once they are told not to reason.
	const samples = reasoning_effort === 'none' && named?.efforts.includes('none') === true;
	const rejectsSampling = said.sampling === undefined ? named?.takesSampling === false && !samples : said.sampling === 'none';
	const dropped = rejectsSampling ? ['temperature', 'top_p'].filter((name) => isOtherThanOne(members[name])) : [];
	if (!rejectsCap && dropped.length === 0) return undefined;
	const hasBoth = rejectsCap && isGiven(max_completion_tokens);
	const renamesCap = rejectsCap && !hasBoth;
	const removed = [...dropped];
	if (hasBoth) removed.push('max_tokens');
	// A null under the new name would be a second member of that name.
	if (renamesCap && max_completion_tokens !== undefined) removed.push('max_completion_tokens');
	return {
		removed,
		renamesCap,
		warnings: [
			...(renamesCap ? ['max_tokens: sent as max_completion_tokens, the name that the model accepts'] : []),
			...(hasBoth ? ['max_tokens: dropped, because the request has max_completion_tokens'] : []),
			...dropped.map(dropWarning),
		],
	};
}

function repairOfMessages(members: JsonObject, { knownAs, isListed, said, anthropicVersion }: RepairTarget): Repair | undefined {
	const given = ['temperature', 'top_p', 'top_k'].filter((name) => typeof members[name] === 'number');
	if (given.length === 0) return undefined;
	const named = isListed() ? claudeModelOf(knownAs) : undefined;
	const rejectsSampling = said.sampling === undefined ? named?.takesSampling === false : said.sampling === 'none';
	if (!rejectsSampling) return undefined;
	// Dates compare as text. The next version rejects the fields themselves, whatever their value.
	const rejectsDefaults = (anthropicVersion() ?? lastSamplingVersion) > lastSamplingVersion;
	const removed = rejectsDefaults ? given : given.filter((name) => !isClaudeDefault(name, Number(members[name])));
	return removed.length === 0 ? undefined : { removed, renamesCap: false, warnings: removed.map(dropWarning) };
}

function dropWarning(name: string): string {
	return `${name}: dropped, because the model accepts its default alone`;
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}

/** What is no number is the client's mistake, which the provider's own error names. */
function isOtherThanOne(value: unknown): boolean {
	return typeof value === 'number' && value !== 1;
}

function isClaudeDefault(name: string, value: number): boolean {
	return name === 'temperature' ? value === 1 : name === 'top_p' && value >= 0.99;
}

/** Changes the name of a top-level member, however its characters are written. */
function renameMember(bytes: Buffer, from: string, to: string): readonly Edit[] {
	const [value] = locateValues(bytes, [[from]]);
	if (value === undefined) return [];
	const quote = 0x22;
	// Only whitespace and a colon stand between a name and its value, and no character of this name is a quote.
	const end = bytes.lastIndexOf(quote, value.start - 1);
	const start = bytes.lastIndexOf(quote, end - 1);
	return [{ start: start + 1, end, text: to }];
}
