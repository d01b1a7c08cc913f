/** Requests written without knowledge of the rules: `test/suites/second-reader`. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RuleSet } from '../../../src/policy/firewall/rules/rule-set.ts';
import type { TemplateSet, VariantHead } from './attack-variants.ts';

interface SecondReaderCase {
	readonly line: string;
	/** Half of the file: only lines of the first half may be read to correct rules. */
	readonly set: TemplateSet;
	readonly head: VariantHead;
	/** True if an attack has the same text, so that the firewall blocks it. */
	readonly isAmbiguous?: boolean;
}

interface SecondReaderAttack extends SecondReaderCase {
	readonly family: string;
}

const chrome = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const ambiguousLines: ReadonlySet<string> = new Set(linesOf('ambiguous.txt').map((line) => line.slice(line.indexOf('\t') + 1)));
const browserHeaders: VariantHead['headers'] = { 'user-agent': chrome, accept: '*/*' };

/** Result for one half of a file. */
export interface SecondReaderMeasurement {
	readonly name: string;
	readonly set: TemplateSet;
	readonly sent: number;
	readonly blocked: readonly string[];
	readonly ambiguous: number;
	readonly ambiguousBlocked: number;
}

export interface SecondReaderRecall {
	readonly family: string;
	readonly set: TemplateSet;
	readonly sent: number;
	readonly missed: readonly string[];
}

const sets: readonly TemplateSet[] = ['developed', 'heldOut'];

export function measureSecondReader(rules: RuleSet): SecondReaderMeasurement[] {
	const isBlocked = ({ head }: SecondReaderCase): boolean => rules.checkHead(head).some(({ action }) => action === 'block');
	const files = { requests: readHarmlessRequests(), arguments: readHarmlessArguments() };
	return Object.entries(files).flatMap(([name, cases]) =>
		sets.map((set) => {
			const own = cases.filter((one) => one.set === set);
			const clear = own.filter(({ isAmbiguous }) => isAmbiguous !== true);
			const ambiguous = own.filter(({ isAmbiguous }) => isAmbiguous === true);
			return {
				name,
				set,
				sent: clear.length,
				blocked: clear.filter(isBlocked).map(({ line }) => line),
				ambiguous: ambiguous.length,
				ambiguousBlocked: ambiguous.filter(isBlocked).length,
			};
		}),
	);
}

export function measureSecondReaderAttacks(rules: RuleSet): SecondReaderRecall[] {
	const attacks = readAttacks();
	const isCaught = ({ head }: SecondReaderAttack): boolean =>
		rules.checkHead(head).some(({ rule, action }) => action === 'block' && !rule.startsWith('SizeRestrictions'));
	return [...new Set(attacks.map(({ family }) => family))].flatMap((family) =>
		sets.map((set) => {
			const own = attacks.filter((attack) => attack.family === family && attack.set === set);
			return { family, set, sent: own.length, missed: own.filter((attack) => !isCaught(attack)).map(({ line }) => line) };
		}),
	);
}

/** Values from which rules may be developed, written by others, of the same classes. */
export function readDevelopedArguments(): readonly SecondReaderCase[] {
	return argumentsOf('arguments-developed.txt').map((one) => ({ ...one, set: 'developed' }));
}

function readHarmlessRequests(): readonly SecondReaderCase[] {
	return linesOf('requests.txt').map((line) => {
		const [method = '', target = '', agent = '', ...fields] = line.split('\t');
		const headers: Record<string, string> = { 'user-agent': agent };
		for (const field of fields) {
			const colon = field.indexOf(':');
			headers[field.slice(0, colon).toLowerCase()] = field.slice(colon + 1).trim();
		}
		return {
			line,
			set: setOf(line),
			head: { method, ...splitTarget(target), headers },
			isAmbiguous: [target, ...fields].some((text) => ambiguousLines.has(text)),
		};
	});
}

function readHarmlessArguments(): readonly SecondReaderCase[] {
	return argumentsOf('arguments.txt');
}

function argumentsOf(name: string): readonly SecondReaderCase[] {
	return linesOf(name).map((line) => {
		const space = line.indexOf(' ');
		const query = `${encodeURIComponent(line.slice(0, space))}=${encodeURIComponent(line.slice(space + 1))}`;
		const head = { method: 'GET', path: '/docs/search', query, headers: browserHeaders };
		return { line, set: setOf(line), head, isAmbiguous: ambiguousLines.has(line) };
	});
}

function readAttacks(): readonly SecondReaderAttack[] {
	return linesOf('attacks.txt').map((line) => {
		const [family = '', place = '', payload = ''] = line.split('\t');
		return { line, set: setOf(line), family, head: attackHead(place, payload) };
	});
}

function attackHead(place: string, payload: string): VariantHead {
	const head: VariantHead = { method: 'GET', path: '/search', query: '', headers: browserHeaders };
	const withField = (name: string, value: string): VariantHead => ({ ...head, headers: { ...browserHeaders, [name]: value } });
	switch (place) {
		case 'query':
			return { ...head, query: `q=${encodeURIComponent(payload)}` };
		case 'url':
			return { ...head, query: `url=${encodeURIComponent(payload)}` };
		case 'raw':
			return { ...head, query: payload };
		case 'foreign':
			return { ...withField('referer', 'https://evil.example/'), query: payload };
		case 'path':
			return { ...head, path: payload };
		case 'cookie':
			return withField('cookie', `v=${encodeURIComponent(payload)}`);
		case 'agent':
			return withField('user-agent', payload);
		case 'referer':
			return withField('referer', `https://example.com/?q=${payload}`);
		default:
			throw new Error(`no place of an attack: ${place}`);
	}
}

function splitTarget(target: string): Pick<VariantHead, 'path' | 'query'> {
	const at = target.indexOf('?');
	return at === -1 ? { path: target, query: '' } : { path: target.slice(0, at), query: target.slice(at + 1) };
}

function linesOf(name: string): readonly string[] {
	return readFileSync(new URL(`../../suites/second-reader/${name}`, import.meta.url), 'utf8')
		.trimEnd()
		.split('\n');
}

function setOf(line: string): TemplateSet {
	const [first = 0] = createHash('sha256').update(line).digest();
	return first % 2 === 0 ? 'developed' : 'heldOut';
}
