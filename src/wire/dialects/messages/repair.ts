import { remembering } from '../../../core/bounded-map.ts';
import type { JsonObject } from '../../json/parse-body.ts';
import { dropWarning, type Repair, type RepairTarget } from '../../repair-parameters.ts';
import { claudeModel, lastSamplingVersion } from './model.ts';

/** Regular expressions over names, once a name. */
const claudeModelOf = remembering(1000, claudeModel);

export function repairMessages(members: JsonObject, { knownAs, isListed, said, anthropicVersion }: RepairTarget): Repair | undefined {
	const given = ['temperature', 'top_p', 'top_k'].filter((name) => typeof members[name] === 'number');
	if (given.length === 0) return undefined;
	const named = isListed() ? claudeModelOf(knownAs) : undefined;
	const rejectsSampling = said.sampling === undefined ? named?.takesSampling === false : said.sampling === 'none';
	if (!rejectsSampling) return undefined;
	// Dates compare as text. The next version rejects the fields themselves, whatever their value.
	const rejectsDefaults = (anthropicVersion() ?? lastSamplingVersion) > lastSamplingVersion;
	const removed = rejectsDefaults ? given : given.filter((name) => !isClaudeDefault(name, Number(members[name])));
	return removed.length === 0 ? undefined : { removed, warnings: removed.map(dropWarning) };
}

function isClaudeDefault(name: string, value: number): boolean {
	return name === 'temperature' ? value === 1 : name === 'top_p' && value >= 0.99;
}
