/**
 * Repairs of requests that are sent in the client's own format. Models reject some parameters that older ones take; where such a parameter
 * has one meaning, it is renamed or removed, and every other byte stays.
 */
import type { Steps } from '../core/steps.ts';
import type { ModelFacts } from './conversation/model-facts.ts';
import { cutValues, locateValues } from './json/locate-values.ts';
import { type JsonBody, parsingSteps } from './json/parse-body.ts';
import { type Edit, spliceBody } from './json/splice-body.ts';

/** The model of a request, as far as its repair depends on it. */
export interface RepairTarget {
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
	/** A top-level member that gets another name. */
	readonly renamed?: readonly [from: string, to: string] | undefined;
	/** A sentence for each, in the form of `RequestWarnings`. */
	readonly warnings: readonly string[];
}

/** The repaired body. @param wanted as for `parseBody`. */
export function* repairingSteps({ bytes }: JsonBody, { removed, renamed }: Repair, wanted: ReadonlySet<string>): Steps<JsonBody> {
	const cuts = cutValues(
		bytes,
		removed.map((name) => [name]),
	);
	const repaired = spliceBody(bytes, renamed === undefined ? cuts : [...cuts, ...renameMember(bytes, ...renamed)]);
	yield;
	return yield* parsingSteps(repaired, wanted);
}

export function dropWarning(name: string): string {
	return `${name}: dropped because the model accepts only its default`;
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
