/**
 * Repairs requests that are sent in the client's own format. Models reject some parameters that older ones take. A parameter with an
 * unambiguous meaning is renamed or removed, and every other byte stays.
 */
import type { CooperativeTask } from '../core/cooperative-task.ts';
import type { ModelCapabilities } from './conversation/model-capabilities.ts';
import { cutValues, locateValues } from './json/locate-values.ts';
import { type JsonBody, parsingSteps } from './json/parse-body.ts';
import { type Edit, spliceBody } from './json/splice-body.ts';

/** Facts about the request's model that its repair depends on. */
export interface RepairTarget {
	/** The vendor's name of the model. */
	readonly knownAs: string;
	/** Returns true if the vendor is known to have a model of this name. A similar name is no reason to change a request. */
	readonly isListed: () => boolean;
	/** Configured facts about the model; they take precedence over its name. */
	readonly said: Pick<ModelCapabilities, 'tokenParam' | 'sampling'>;
	/** Version of Anthropic's API for the request. */
	readonly anthropicVersion: () => string | undefined;
}

/** Changes to a request. */
export interface Repair {
	/** Top-level members to remove. */
	readonly removed: readonly string[];
	/** A top-level member to rename. */
	readonly renamed?: readonly [from: string, to: string] | undefined;
	/** One sentence for each change, in the form of `RequestWarnings`. */
	readonly warnings: readonly string[];
}

/** Returns the repaired body. @param wanted as for `parseBody`. */
export function* repairingSteps({ bytes }: JsonBody, { removed, renamed }: Repair, wanted: ReadonlySet<string>): CooperativeTask<JsonBody> {
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

/** Renames a top-level member, however its characters are written. */
function renameMember(bytes: Buffer, from: string, to: string): readonly Edit[] {
	const [value] = locateValues(bytes, [[from]]);
	if (value === undefined) return [];
	const quote = 0x22;
	// Only whitespace and a colon separate a name from its value, and no character of this name is a quote.
	const end = bytes.lastIndexOf(quote, value.start - 1);
	const start = bytes.lastIndexOf(quote, end - 1);
	return [{ start: start + 1, end, text: to }];
}
