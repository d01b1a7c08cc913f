/** Words that Tollgate does not use, each with the term to write instead. Add a term only if every use of it is wrong. */

export interface RetiredTerm {
	readonly pattern: RegExp;
	readonly write: string;
}

const retiredPhrases: readonly (readonly [phrase: string, write: string])[] = [
	// Requests and responses
	['(?<!connections? (?:(?:is|are|was|were|be|been|being) )?)refused(?! connections?)|refus(?:es?|ing)', 'reject, deny'],
	['refusals?', 'rejection; `refusal` in code marks for the field of a model'],
	['(?:turn|turns|turned|turning)(?: [\\w-]+){0,4} away|declines?|declined', 'reject, deny'],
	['answer(?:s|ed|ing)?', 'response; returns, with the status'],
	['defects?', 'internal error'],
	['whole (?:response|call)s?|whole (?:and|or) stream(?:ed|ing)', 'non-streaming'],
	['moves? on to (?:another|the next|the other)', 'failover to the next target'],
	['go(?:es|ing)? on|went on', 'continue; failover to the next target'],
	['(?:client|caller)s? (?:(?:that|who|which) )?(?:has |have |had )?(?:left|leaves?|goes away|went away|is gone)', 'client disconnected'],
	['call(?:s|er)? under way|under way|at work', 'in-flight'],
	['too much to do', 'load shedding'],

	// Ledger and limits
	['ledger(?:\\W?s)? (?:rows?|lines?)|rows? (?:in|of) (?:the|a|its) ledger', 'ledger entry'],
	['what is held|(?:money|sums?|amounts?) held|held money', 'reservation'],
	['what is written', 'record'],
	['figures?', 'metrics, measurements'],
	['takes? back|took back|taken back|taking back', 'void, voided'],
	['body space|space for bodies|bodies. space', 'memory budget for request bodies'],
	['free places?|places? (?:is|are) (?:free|taken)', 'slot'],

	// Health
	['left alone|leaves? alone', 'ejected'],
	['ill', 'unhealthy'],
	['(?:is|are|was|were|be) away|stays? away', 'unavailable, unhealthy'],
	['dead runs?', 'stale instance'],

	// Usage and models
	['told', 'reported, parsed'],
	['unseen thinking', 'hidden reasoning tokens'],
	['foreign marks?|marks of (?:others?|another vendor)', 'vendor extension, vendor-specific fields'],
	['speaks?|spoken|speaking', 'uses the dialect'],

	// Security and guardrails
	['unsealed|sealed|sealing|seals?', 'encrypted at rest; encryption key'],
	['in clear', 'unencrypted'],
	['(?<!(?:expression|regex|storage|script|SQL|search) )engines?', 'moderation provider'],
	['(?<!round )(?:trip|trips)|tripped|tripping', 'match, matched'],
	['looked at|looks at|look at|looking at', 'evaluate, check'],
	['bad name', 'reputation blocklist'],

	// Runtime
	['own turns?|takes? turns|in turns', 'yield to the event loop'],
	['taken up|takes? up', 'reload; hot reload'],
	['stand-ins?|stands? in for|stood in for', 'fallback'],
	['bury|buries|buried', 'remove'],

	// Plain English
	['apart from', 'except'],
	['apart', 'separate, standalone'],
	['anew', 'again'],
	['beside', 'next to'],
	['but for', 'except'],
	['unless given', 'by default'],
	['that counts', 'valid'],
	['lies in|lies (?:apart|beside|next to)|lie in', 'is in, is stored in'],
	['not believed|believed|believes?', 'ignored; trusted'],
	['whoever|whomever', 'the client, the operator'],
	['nobody', 'no client, no process'],
	['we|ours?', 'Tollgate, the gateway, you'],
];

/** Patterns matched in prose outside code spans, regardless of case. */
export const phrases: readonly RetiredTerm[] = retiredPhrases.map(([phrase, write]) => ({
	pattern: new RegExp(`(?<![\\w-])(?:${phrase})(?![\\w-])`, 'gi'),
	write,
}));

const retiredNames: readonly (readonly [name: string, write: string])[] = [
	['readInRoom', 'adoptSocketWithSharedBuffer'],
	['UsualHead', 'SimpleRequestHead'],
	['HeadReader', 'HeaderBlockCache'],
	['OpenList', 'SwapRemoveList'],
	['ownTurn', 'yieldToEventLoop'],
	['inTurns', 'runCooperatively'],
	['OwnPages', 'Arena'],
	['CallTable', 'IdHashTable'],
	['FadingMap', 'TtlMap'],
	['remembering', 'memoize'],
	['withOpened', 'withCleanup'],
	['CallFacts', 'RequestRecord'],
	['GatewayFacts', 'RequestRecord'],
	['BodySpace', 'BodyMemoryBudget'],
	['giveWay', 'transferReservation'],
	['AtHand', 'MaybePromise'],
	['whenEnded', 'setAbortHandler'],
	['isLeft', 'clientDisconnected'],
	['UnaskedCuts', 'InjectedUsageStripper'],
	['ToldAnswer', 'ReportedUsage'],
	['Undelivered', 'ReplayQueue'],
	['RecentEnds', 'RecentSettlements'],
	['TermsBook', 'TermsResolver'],
	['PriceBook', 'PriceResolver'],
	['TrafficBook', 'TrafficResolver'],
	['takenBack', 'voided'],
	['buryDeadRuns', 'removeStaleInstances'],
];

/** Patterns matched against identifiers. */
export const identifiers: readonly RetiredTerm[] = [
	...retiredNames.map(([name, write]) => ({ pattern: new RegExp(`^${name}$`), write })),
	{ pattern: /(?:^|_)told(?![a-z])|Told(?![a-z])/, write: 'reported, parsed' },
	{ pattern: /^(?:longest|most|biggest|largest)(?!Recent)[A-Z]/, write: 'max…' },
	{ pattern: /^(?:least|fewest|smallest|shortest)(?!Recent)[A-Z]/, write: 'min…' },
];

/** Settings and fields that have a new name, matched in pages including their code. */
export const publicNames: readonly RetiredTerm[] = [
	{ pattern: /\bbinds_first\b/g, write: 'tightest_limit' },
	{ pattern: /\bheld_usd\b/g, write: 'reserved_usd' },
	{ pattern: /\bbudgets\.hold\b/g, write: 'budgets.reservation' },
	{ pattern: /\bguardrails\.engines\b/g, write: 'guardrails.moderation_providers' },
];
