/** Rejects requests before the access token is checked: listed addresses, requests that match a rule, sources above their rate limit. */
import type { Clock } from '../../core/clock.ts';
import type { HttpRequest } from '../../core/handler.ts';
import type { Log } from '../../core/log.ts';
import type { Counter, Metrics } from '../../core/metrics.ts';
import type { PolicyMode } from '../../core/policy-mode.ts';
import { Rejection, type RejectionCode } from '../../core/rejection.ts';
import { watchBeginning } from './body-watch.ts';
import { createClientAddressReader, createProxyTest } from './client-address.ts';
import type { IpRangeSet } from './ip-range-set.ts';
import type { RuleAction } from './rules/rule-catalogue.ts';
import { type RuleMatch, RuleSet, sizeLimits } from './rules/rule-set.ts';
import { type SourceKey, sourceKey } from './source-key.ts';

export interface FirewallSettings {
	/** Addresses and CIDR ranges whose `x-forwarded-for` is trusted. */
	readonly trustedProxies: readonly string[];
	/** Actions by rule name; other rules use their default action. */
	readonly rules: Readonly<Record<string, RuleAction>>;
	/** `monitor`: sources above their rate limit are counted and not rejected. */
	readonly rateMode: PolicyMode;
}

export interface FirewallPorts {
	/** Rate windows, which outlive a reload of the settings. */
	readonly admitSource: (source: SourceKey, nowMs: number) => boolean;
	readonly reputationLists: () => readonly ReputationEntry[];
	readonly clock: Pick<Clock, 'monotonicMs'>;
	readonly log: Log;
	readonly metrics: Metrics;
}

export interface ReputationEntry {
	readonly name: string;
	readonly action: Exclude<RuleAction, 'off'>;
	readonly ranges: IpRangeSet;
}

/**
 * Checks a request: reputation lists, then rules, then rate. @returns the request to process, with the codes of monitored matches.
 * @throws {Rejection} `ip_reputation_listed`, `firewall_rule_matched`, `ip_rate_exceeded`.
 */
export type Firewall = (request: HttpRequest) => HttpRequest;

export function createFirewall(settings: FirewallSettings, { admitSource, reputationLists, clock, log, metrics }: FirewallPorts): Firewall {
	const clientAddress = createClientAddressReader(settings.trustedProxies);
	const isProxy = createProxyTest(settings.trustedProxies);
	const { rateMode } = settings;
	const rules = new RuleSet(settings.rules);
	const report = new MatchReport(metrics, log);
	const listed = metrics.counter('tollgate_firewall_listed_total', 'Requests from addresses on a reputation list.', ['list', 'action']);
	const overRate = metrics.counter('tollgate_firewall_rate_exceeded_total', 'Requests over the per-source rate limit.', ['action']);

	/** Tells whether a list in monitor mode has the address. */
	const checkAddress = (source: SourceKey, address: string): boolean => {
		let isMonitored = false;
		for (const { name, action, ranges } of reputationLists()) {
			if (!ranges.includes(source, address) || isProxy(address)) continue;
			listed.add(1, { list: name, action });
			if (action === 'block') throw new Rejection('ip_reputation_listed');
			isMonitored = true;
		}
		return isMonitored;
	};
	const applyActions = (matches: readonly RuleMatch[], request: HttpRequest): void => {
		for (const match of matches) report.tell(request.id, match, clock.monotonicMs());
		if (matches.some(({ action }) => action === 'block')) throw new Rejection('firewall_rule_matched');
	};
	const watched = (request: HttpRequest): HttpRequest => {
		const body = watchBeginning(request.body, sizeLimits.bodyBytes, (beginning, isLonger) => {
			for (const match of rules.checkBody(beginning.toString('latin1'), isLonger)) {
				report.tell(request.id, { ...match, action: 'monitor' }, clock.monotonicMs());
			}
		});
		return { ...request, body };
	};

	/** Tells whether a rule in monitor mode matches. */
	const checkHead = (request: HttpRequest): boolean => {
		const matches = rules.checkHead(request);
		if (matches.length > 0) applyActions(matches, request);
		return matches.length > 0;
	};
	/** Tells whether the source is over a monitored rate limit. */
	const checkRate = (source: SourceKey): boolean => {
		if (admitSource(source, clock.monotonicMs())) return false;
		const isEnforced = rateMode === 'enforce';
		overRate.add(1, { action: isEnforced ? 'block' : 'monitor' });
		if (isEnforced) throw new Rejection('ip_rate_exceeded');
		return true;
	};

	return (request) => {
		const address = clientAddress(request);
		const source = sourceKey(address);
		const isListed = checkAddress(source, address);
		const isMatched = checkHead(request);
		const isOverRate = checkRate(source);
		const checked = isListed || isMatched || isOverRate ? { ...request, monitored: codesOf(isListed, isMatched, isOverRate) } : request;
		return rules.watchesBodies && request.announcedLength !== 0 ? watched(checked) : checked;
	};
}

function codesOf(isListed: boolean, isMatched: boolean, isOverRate: boolean): RejectionCode[] {
	const codes: RejectionCode[] = [];
	if (isListed) codes.push('ip_reputation_listed');
	if (isMatched) codes.push('firewall_rule_matched');
	if (isOverRate) codes.push('ip_rate_exceeded');
	return codes;
}

/** Minimum interval between two log lines of a rule; matches in between are only counted. */
const quietMs = 1000;

/** Reports matched rules as metrics and log lines, without the matched text. */
class MatchReport {
	readonly #matches: Counter;
	readonly #log: Log;
	/** Last log line by rule; rules are few. */
	readonly #lastLines = new Map<string, { atMs: number; suppressed: number }>();

	constructor(metrics: Metrics, log: Log) {
		this.#log = log;
		this.#matches = metrics.counter('tollgate_firewall_matches_total', 'Requests that matched a firewall rule.', ['rule', 'action']);
	}

	/** @param nowMs monotonic. */
	tell(requestId: string, { rule, part, action }: RuleMatch, nowMs: number): void {
		this.#matches.add(1, { rule, action });
		const last = this.#lastLines.get(rule);
		if (last !== undefined && nowMs - last.atMs < quietMs) {
			last.suppressed++;
			return;
		}
		this.#log.info('firewall rule matched', { requestId, rule, part, action, suppressed: last?.suppressed ?? 0 });
		this.#lastLines.set(rule, { atMs: nowMs, suppressed: 0 });
	}
}
