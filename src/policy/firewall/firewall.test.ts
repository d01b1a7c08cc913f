import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { HandFedStream } from '../../../test/support/manual-stream.ts';
import { createRecordingLog } from '../../../test/support/recording-log.ts';
import { sdkRequests } from '../../../test/support/sdk-requests.ts';
import { streamOf } from '../../core/byte-stream.ts';
import type { HttpRequest } from '../../core/handler.ts';
import { type Labels, type Metrics, noMetrics } from '../../core/metrics.ts';
import { createFirewall, type FirewallSettings, type ReputationEntry } from './firewall.ts';
import { IpRateWindow } from './ip-rate-window.ts';
import { ReputationListReader } from './reputation-list.ts';

const [ordinary] = sdkRequests;
if (ordinary === undefined) throw new Error('no request');
const attack = { query: 'q=<script>' };

function start(settings: Partial<FirewallSettings> = {}, lists: readonly ReputationEntry[] = [], requests = 5) {
	const clock = new ManualClock();
	const log = createRecordingLog();
	const counted: string[] = [];
	const count = (name: string, labels: Labels = {}): void => void counted.push([name, ...Object.values(labels)].join(' '));
	const metrics: Metrics = {
		...noMetrics,
		counter: (name) => ({ ...noMetrics.counter('', ''), add: (_by, labels) => count(name, labels) }),
	};
	const rate = new IpRateWindow({ requests, windowSeconds: 300, maxSources: 100 }, 1);
	const firewall = createFirewall(
		{ trustedProxies: [], rules: {}, rateMode: 'enforce', ...settings },
		{ admitSource: (source, nowMs) => rate.admit(source, nowMs), reputationLists: () => lists, clock, log, metrics },
	);
	const check = (request: Partial<HttpRequest> = {}): string => {
		try {
			firewall({ ...(ordinary as HttpRequest), ...request });
			return 'passed';
		} catch (cause) {
			return (cause as { code?: string }).code ?? String(cause);
		}
	};
	return { firewall, check, clock, log, counted };
}

function list(action: ReputationEntry['action'], ...ranges: string[]): ReputationEntry {
	const reader = new ReputationListReader();
	for (const range of ranges) reader.add(range);
	return { name: 'bad', action, ranges: reader.end().ranges };
}

describe('the order', () => {
	test('reputation, rules, rate; a later check does not count requests that an earlier one rejects', () => {
		const { check } = start({}, [list('block', '203.0.113.0/24')], 2);
		expect(check({ peerAddress: '203.0.113.9', ...attack })).toBe('ip_reputation_listed');
		expect([check(attack), check(attack), check(attack)]).toEqual(Array.from({ length: 3 }, () => 'firewall_rule_matched'));
		expect([check(), check(), check(), check(attack)]).toEqual(['passed', 'passed', 'ip_rate_exceeded', 'firewall_rule_matched']);
	});
});

test('the same head is judged, and counted, each time', () => {
	const { check } = start();
	expect([check(), check(attack), check()]).toEqual(['passed', 'firewall_rule_matched', 'passed']);
	const counting = start({ rules: { CrossSiteScripting_QUERYARGUMENTS: 'monitor' } });
	for (let round = 0; round < 3; round++) expect(counting.check(attack)).toBe('passed');
	expect(counting.counted).toHaveLength(3);
});

describe('reputation', () => {
	test('a monitored list lets pass', () => {
		const { check, counted } = start({}, [list('monitor', '203.0.113.9')]);
		expect(check({ peerAddress: '203.0.113.9' })).toBe('passed');
		expect(counted).toEqual(['tollgate_firewall_listed_total bad monitor']);
	});

	test('a trusted proxy is never listed; its clients are', () => {
		const { check } = start({ trustedProxies: ['10.0.0.0/8'] }, [list('block', '10.0.0.0/8', '203.0.113.0/24')]);
		const from = (client?: string): Partial<HttpRequest> => ({
			peerAddress: '10.0.0.1',
			headers: { ...ordinary.headers, ...(client !== undefined && { 'x-forwarded-for': client }) },
		});
		expect(check(from())).toBe('passed');
		expect(check(from('10.9.9.9'))).toBe('passed');
		expect(check(from('203.0.113.9'))).toBe('ip_reputation_listed');
		expect(check(from('198.51.100.1'))).toBe('passed');
	});

	test('an IPv6 source is judged by its whole address', () => {
		const { check } = start({}, [list('block', '2001:db8::7/128')]);
		expect(check({ peerAddress: '2001:db8::7' })).toBe('ip_reputation_listed');
		expect(check({ peerAddress: '2001:db8::8' })).toBe('passed');
	});
});

describe('monitor mode', () => {
	const monitoredOf = ({ firewall }: ReturnType<typeof start>, request: Partial<HttpRequest> = {}) =>
		firewall({ ...ordinary, ...request }).monitored;

	test('marks the request with the codes of what would have rejected it', () => {
		const rules = { CrossSiteScripting_QUERYARGUMENTS: 'monitor' } as const;
		const all = start({ rules, rateMode: 'monitor' }, [list('monitor', '203.0.113.9')], 1);
		expect(monitoredOf(all)).toBeUndefined();
		expect(monitoredOf(all, { ...attack, peerAddress: '203.0.113.9' })).toEqual(['ip_reputation_listed', 'firewall_rule_matched']);
		expect(monitoredOf(all, { peerAddress: '203.0.113.9' })).toEqual(['ip_reputation_listed', 'ip_rate_exceeded']);
		expect(monitoredOf(all)).toEqual(['ip_rate_exceeded']);
		expect(all.counted.filter((line) => line.includes('rate'))).toEqual(Array(2).fill('tollgate_firewall_rate_exceeded_total monitor'));
	});

	test('of one rule leaves the others enforced', () => {
		const { check } = start({ rules: { CrossSiteScripting_QUERYARGUMENTS: 'monitor' } });
		expect([check(attack), check({ query: "q=1' or '1'='1" })]).toEqual(['passed', 'firewall_rule_matched']);
	});

	test('an enforced rate limit counts its rejections', () => {
		const { check, counted } = start({}, [], 1);
		expect([check(), check()]).toEqual(['passed', 'ip_rate_exceeded']);
		expect(counted).toEqual(['tollgate_firewall_rate_exceeded_total block']);
	});
});

describe('reports of a match', () => {
	test('each in the metrics; one line a rule and second in the log, with what was left out, and never the value', () => {
		const { check, log, counted, clock } = start({ rules: { CrossSiteScripting_QUERYARGUMENTS: 'monitor' } }, [], 100);
		for (let index = 0; index < 5; index++) expect(check(attack)).toBe('passed');
		clock.advance(1000);
		check(attack);
		expect(counted).toHaveLength(6);
		expect(new Set(counted)).toEqual(new Set(['tollgate_firewall_matches_total CrossSiteScripting_QUERYARGUMENTS monitor']));
		const fields = { requestId: 'req_0', rule: 'CrossSiteScripting_QUERYARGUMENTS', part: 'QUERYARGUMENTS', action: 'monitor' };
		expect(log.lines).toEqual([
			{ level: 'info', event: 'firewall rule matched', fields: { ...fields, suppressed: 0 } },
			{ level: 'info', event: 'firewall rule matched', fields: { ...fields, suppressed: 4 } },
		]);
		expect(JSON.stringify(log.lines)).not.toContain('script>');
	});
});

describe('bodies', () => {
	const body = (text: string): Partial<HttpRequest> => ({ body: streamOf([Buffer.from(text)]), announcedLength: text.length });

	test('pass as they are, the same object even, unless a rule for them is on', () => {
		const { firewall } = start();
		const request = { ...ordinary, ...body('{}') };
		expect(firewall(request)).toBe(request);
	});

	test('a match in a body is only counted, though the rule says block', () => {
		const { firewall, counted } = start({ rules: { CrossSiteScripting_BODY: 'block' } });
		const source = new HandFedStream();
		const received: string[] = [];
		const watched = firewall({ ...ordinary, body: source });
		watched.body.start({ write: (chunk) => received.push(chunk.toString()) > 0, end: () => received.push('end'), fail: () => undefined });
		source.push('{"content":"<scr');
		expect(received, 'nothing is held back').toHaveLength(1);
		source.push('ipt>alert(1)"}');
		expect(counted).toEqual([]);
		source.end();
		expect(received).toEqual(['{"content":"<scr', 'ipt>alert(1)"}', 'end']);
		expect(counted).toEqual(['tollgate_firewall_matches_total CrossSiteScripting_BODY monitor']);
	});

	test('only the beginning is evaluated, once', () => {
		const { firewall, counted } = start({ rules: { CrossSiteScripting_BODY: 'monitor', SizeRestrictions_BODY: 'monitor' } });
		const source = new HandFedStream();
		firewall({ ...ordinary, body: source }).body.start({ write: () => true, end: () => undefined, fail: () => undefined });
		source.push('x'.repeat(9000));
		for (let index = 0; index < 3; index++) source.push('<script>');
		source.end();
		expect(counted).toEqual(['tollgate_firewall_matches_total SizeRestrictions_BODY monitor']);
	});
});
