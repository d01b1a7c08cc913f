/** Applies the configured rules to a request's head. It keeps no state across requests except cached results by text. */
import type { HeaderFields, HttpRequest } from '../../../core/handler.ts';
import { memoizeByHeaders } from '../../../core/header-memo.ts';
import { tokenHeaders } from '../../access/token-headers.ts';
import { type Reading, readBodyText, readCookies, readHeaderValue, readPath, readQuery } from './canonical-text.ts';
import { runnableFileNames } from './code-signatures.ts';
import { frameworkSession, sessionArgument } from './protocol-signatures.ts';
import { type RuleAction, type RulePart, rules, type SpecialRuleName } from './rule-catalogue.ts';
import type { Signature } from './signature.ts';

/** `UserAgent_BadBots`: vulnerability scanners that identify themselves. Client libraries and tools are not among them. */
export const badBots =
	/\b(?:acunetix|appscan|arachni|bsqlbf|burpcollaborator|cgichk|cloudmapping experiment|commix|crowdstrike scanner|dav\.pm\/v|detectify|dirbuster|dirsearch|dotdotpwn|evil(?:bot|scanner)|feroxbuster|ffuf|fimap|fuzz faster|gobuster|gootkit|grendel-scan|havij|jaascois|jbrofuzz|jorgee|l9explore|l9tcpid|libwhisker|masscan|morfeus|mysqloit|n-stealth|nessus|netsparker|nikto|nmap|nsauditor|nuclei|openvas|pmafind|prog\.customcrawler|sitelockspider|skipfish|sqlmap|sqlninja|sqlpowerinjector|struts-pwn|sysscan|tbi-webscanner|uil2pn|w3af|webbandit|webinspect|webshag|websiteinspector|webtrends security|wfuzz|whatweb|whcc\/|wordpress hash grabber|wpscan|xmlrpc exploit|zgrab|zmeu|aiodnsbrute|aquatone|autosploit|backdorm|brutus|bbqsql|beefproject|bilbo|black widow|burp(?: ?suite|collab)|cansecwest|censysinspect|cmsmap|crackmapexec|dalfox|dirb(?= |\/|$)|domsink|droopescan|dnsenum|eyewitness|expanse, a palo|fierce|golismero|grabber\/|hakrawler|hexometer|(?:thc-)?hydra(?: |\/|$)|httprint|httpx - open|jaeles|jndi-?exploit|joomscan|jsky|katana(?: |\/|$)|kiterunner|leakix|metasploit|metis|mozilla\/5\.0 sf|muieblackcat|naabu|netlab360|nimbostratus|nosqlmap|nsearch|odin(?: scan|\/)|paros(?: |\/|$)|patator|pangolin|photon\/|project(?:discovery|sonar)|qualys|rapid7|recon-ng|reaver|rustscan|scanbot|scaninfo|securitytrails|shodan|sn1per|sqlbrute|sqlsus|sslscan|sslyze|subfinder|testssl|theharvester|tplmap|uniscan|vega\/|vuls\/|wafw00f|wapiti|webcruiser|webscarab|webvulnscan|whatwaf|wprecon|x5s|xsser|xsstrike|xspear|zaproxy|zap\/|zoomeye|zollard)\b/i;

/** Rule that a request matched, and its action. */
export interface RuleMatch {
	readonly rule: string;
	readonly part: RulePart;
	readonly action: Exclude<RuleAction, 'off'>;
}

/** Maximum accepted lengths, as in the rule group of AWS. */
export const sizeLimits = { queryLength: 2048, pathLength: 1024, cookieLength: 10_240, bodyBytes: 8192 } as const;

/** Maximum length of a cached text, which bounds the caches' memory. */
const maxCachedLength = 1024;
const headerCacheSize = 4096;
/** Smaller limit, because a path keeps the whole target that it was cut from in memory. */
const targetCacheSize = 512;

/** Header fields that are not scanned: secrets, and fields that the HTTP checks have validated. */
const unscanned: ReadonlySet<string> = new Set([
	...tokenHeaders,
	'connection',
	'content-length',
	'cookie',
	'host',
	'keep-alive',
	'proxy-authorization',
	'transfer-encoding',
]);

/** Identifiers, which differ in each request. No signature of a header field consists of these alone, except streams of Java. */
const plainIdentifier = /^(?!rO0AB)[\w-]{0,64}$/;
const fileNameField = /^x[-_.]?file[-_.]?name$/;

const noMatches: readonly RuleMatch[] = [];

type Matches = readonly RuleMatch[];

interface ScannedRule {
	readonly match: RuleMatch;
	readonly signatures: readonly Signature[];
}

export class RuleSet {
	readonly #scanned: Readonly<Record<RulePart, readonly ScannedRule[]>>;
	readonly #special: ReadonlyMap<string, RuleMatch>;
	readonly #agents = new VerdictCache<Matches>(headerCacheSize);
	readonly #fields = new VerdictCache<Matches>(headerCacheSize);
	readonly #cookies = new VerdictCache<Matches>(headerCacheSize);
	readonly #paths = new VerdictCache<Matches>(targetCacheSize);
	readonly #queries = new VerdictCache<Matches>(targetCacheSize);

	/** @param actions by rule name; other rules use their default action. */
	constructor(actions: Readonly<Record<string, RuleAction>>) {
		const active = rules.flatMap(({ name, part, defaultAction, signatures }) => {
			const action = actions[name] ?? defaultAction;
			return action === 'off' ? [] : [{ match: { rule: name, part, action }, signatures }];
		});
		const scannedIn = (part: RulePart): ScannedRule[] =>
			active.filter(({ match, signatures }) => match.part === part && signatures.length > 0);
		this.#scanned = {
			HEADER: scannedIn('HEADER'),
			COOKIE: scannedIn('COOKIE'),
			QUERYARGUMENTS: scannedIn('QUERYARGUMENTS'),
			URIPATH: scannedIn('URIPATH'),
			BODY: scannedIn('BODY'),
		};
		this.#special = new Map(active.map(({ match }) => [match.rule, match]));
	}

	/** Returns the matches of the request's head, in no particular order; usually none. */
	checkHead({ method, path, query, headers }: Pick<HttpRequest, 'method' | 'path' | 'query' | 'headers'>): Matches {
		let found = this.#checkPath(path);
		if (query !== '') {
			found = joined(found, this.#checkQuery(query));
			if (setsSession(query, headers)) found = this.#with(found, 'SessionFixation_QUERYARGUMENTS');
		}
		found = joined(found, this.#checkFields(headers));
		// Health checks of balancers have arbitrary headers.
		const isHealthCheck = path === '/' && (method === 'GET' || method === 'HEAD');
		return isHarmless(headers['user-agent']) && !isHealthCheck ? this.#with(found, 'NoUserAgent_HEADER') : found;
	}

	/** Tells whether any rule needs the body. */
	get watchesBodies(): boolean {
		return this.#scanned.BODY.length > 0 || this.#special.has('SizeRestrictions_BODY');
	}

	/** @param beginning of the body, as text. */
	checkBody(beginning: string, isLarge: boolean): Matches {
		const found = this.#scan('BODY', readBodyText(beginning));
		return isLarge ? this.#with(found, 'SizeRestrictions_BODY') : found;
	}

	readonly #checkFields = memoizeByHeaders((headers: HeaderFields) => {
		let found = noMatches;
		for (const name of Object.keys(headers)) {
			if (unscanned.has(name)) continue;
			const field = headers[name];
			if (typeof field === 'string') found = joined(found, this.#checkField(name, field));
			else for (const value of field ?? []) found = joined(found, this.#checkField(name, value));
		}
		const cookie = headers['cookie'];
		return cookie === undefined ? found : joined(found, this.#checkCookie(String(cookie)));
	});

	#checkField(name: string, value: string): Matches {
		if (name === 'user-agent') {
			return cached(this.#agents, value, () => {
				const found = this.#scan('HEADER', readHeaderValue(value));
				return badBots.test(value) ? this.#with(found, 'UserAgent_BadBots_HEADER') : found;
			});
		}
		if (fileNameField.test(name)) return joined(this.#checkFileName(value), this.#scan('HEADER', readHeaderValue(value)));
		if (plainIdentifier.test(value)) return noMatches;
		return cached(this.#fields, value, () => this.#scan('HEADER', readHeaderValue(value)));
	}

	#checkFileName(value: string): Matches {
		const isRunnable = readHeaderValue(value).some((reading) => hasAny(runnableFileNames, reading));
		return isRunnable ? this.#with(noMatches, 'PHPHighRiskMethodsVariables_HEADER') : noMatches;
	}

	#checkCookie(cookie: string): Matches {
		return cached(this.#cookies, cookie, () => {
			const found = this.#scan('COOKIE', readCookies(cookie));
			return cookie.length > sizeLimits.cookieLength ? this.#with(found, 'SizeRestrictions_Cookie_HEADER') : found;
		});
	}

	#checkPath(path: string): Matches {
		return cached(this.#paths, path, () => {
			const found = this.#scan('URIPATH', readPath(path));
			return path.length > sizeLimits.pathLength ? this.#with(found, 'SizeRestrictions_URIPATH') : found;
		});
	}

	#checkQuery(query: string): Matches {
		return cached(this.#queries, query, () => {
			const found = this.#scan('QUERYARGUMENTS', readQuery(query));
			return query.length > sizeLimits.queryLength ? this.#with(found, 'SizeRestrictions_QUERYSTRING') : found;
		});
	}

	#scan(part: RulePart, readings: readonly Reading[]): Matches {
		const found = this.#scanned[part].filter(({ signatures }) => readings.some((reading) => hasAny(signatures, reading)));
		return found.length === 0 ? noMatches : found.map(({ match }) => match);
	}

	#with(found: Matches, rule: SpecialRuleName | 'PHPHighRiskMethodsVariables_HEADER' | 'SessionFixation_QUERYARGUMENTS'): Matches {
		const match = this.#special.get(rule);
		return match === undefined ? found : [...found, match];
	}
}

/** Tells whether an argument sets a session, unless the server's own page sent it. */
function setsSession(query: string, { referer, host }: HeaderFields): boolean {
	const isFramework = frameworkSession.test(query);
	if (!isFramework && !sessionArgument.test(query)) return false;
	const origin = /^https?:\/\/([^/?#]{1,300})/i.exec(String(referer ?? ''))?.[1];
	return origin === undefined ? isFramework : siteOf(origin) !== siteOf(String(host ?? ''));
}

/** Returns the site of a host: the last two labels, or the whole of an IP address. */
function siteOf(host: string): string {
	const name = host.toLowerCase().replace(/:\d{0,5}$/, '');
	return /[\d\]]$/.test(name) ? name : name.split('.').slice(-2).join('.');
}

function hasAny(signatures: readonly Signature[], reading: Reading): boolean {
	const { signs } = reading;
	for (const { form, pattern, needs, needsAny } of signatures) {
		if ((needs & ~signs) === 0 && (needsAny === 0 || (needsAny & signs) !== 0) && pattern.test(reading[form])) return true;
	}
	return false;
}

function cached(cache: VerdictCache<Matches>, text: string, check: () => Matches): Matches {
	const known = cache.get(text);
	if (known !== undefined) return known;
	const found = check();
	if (text.length <= maxCachedLength) cache.set(text, found);
	return found;
}

function joined(some: Matches, more: Matches): Matches {
	if (more.length === 0) return some;
	return some.length === 0 ? more : [...some, ...more];
}

function isHarmless(field: string | string[] | undefined): boolean {
	return field === undefined || field.length === 0;
}

/**
 * Caches results by text. Bounded by two generations: when the younger one is full, the older one is dropped; a hit moves the entry to the
 * younger one.
 */
export class VerdictCache<Verdict> {
	readonly #halfSize: number;
	#young = new Map<string, Verdict>();
	#old = new Map<string, Verdict>();

	/** @param size maximum number of cached texts. */
	constructor(size: number) {
		this.#halfSize = Math.max(1, size >> 1);
	}

	get(text: string): Verdict | undefined {
		const young = this.#young.get(text);
		if (young !== undefined) return young;
		const old = this.#old.get(text);
		if (old !== undefined) this.set(text, old);
		return old;
	}

	set(text: string, verdict: Verdict): void {
		if (this.#young.size >= this.#halfSize) {
			this.#old = this.#young;
			this.#young = new Map();
		}
		this.#young.set(text, verdict);
	}

	get size(): number {
		return this.#young.size + this.#old.size;
	}
}
