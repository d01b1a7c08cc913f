import { CallFacts } from '../../core/call-facts.ts';
import type { Team } from '../../core/team.ts';

/** What is known of a call, for its log line and for the header fields of its answer. */
export class GatewayFacts extends CallFacts {
	callerTeam?: Team | undefined;
	/** What was dropped or changed in the request, for its sender. */
	warnings?: readonly string[] | undefined;
	/** `x-ratelimit-*` of the caller's team; absent while its counters are not known. */
	limitHeaders?: Readonly<Record<string, string>> | undefined;
}
