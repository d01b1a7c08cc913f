/** Requests generated from the attack grammar: a filled template, disguised as its language allows, encoded, and put in one position. */
import type { HttpRequest } from '../../../src/core/handler.ts';
import { type AttackFamily, type AttackPosition, type Flavor, slots } from './attack-grammar.ts';
import { type Choice, makeChoice } from './choice.ts';

export type VariantHead = Pick<HttpRequest, 'method' | 'path' | 'query' | 'headers'>;

export interface AttackVariant {
	readonly family: string;
	readonly template: string;
	readonly position: AttackPosition;
	/** Payload before encoding, for messages. */
	readonly payload: string;
	readonly head: VariantHead;
	/** Payload in a body, with a harmless head. */
	readonly body?: string;
}

export type TemplateSet = 'developed' | 'heldOut';

/** @returns `count` variants, from all templates in order; the same for the same seed. */
export function makeVariants(family: AttackFamily, set: TemplateSet, count: number, seed: number): AttackVariant[] {
	const choice = makeChoice(seed);
	const templates = family[set];
	return Array.from({ length: count }, (_, index) => {
		const template = templates[index % templates.length] ?? '';
		const payload = disguise(fill(template, choice), family.flavor, choice);
		return { family: family.name, template, payload, ...placed(family, payload, choice) };
	});
}

function fill(template: string, choice: Choice): string {
	let text = template;
	while (text.includes('«')) {
		text = text.replace(/«(\w+)»/g, (_whole, name: string) => {
			const values = slots[name];
			if (values === undefined) throw new Error(`There is no slot ${name}`);
			const value = choice.of(values);
			return value === '#' ? String(1 + choice.below(9999)) : value;
		});
	}
	return text;
}

const disguises: Readonly<Record<Flavor, readonly ((text: string, choice: Choice) => string)[]>> = {
	sql: [
		mixCase,
		(text, choice) => text.replaceAll(' ', choice.of(['/**/', '/*x*/', '\t', '\n', '\r\n', '  ', '\u000b', '\u00a0'])),
		(text, choice) => mixCase(text, choice).replaceAll(' ', choice.of(['/**/', '\t'])),
		(text) => text.replace(/(\w)\(/g, '$1 ('),
		(text) => text.replace(/\b(union|select|from)\b/g, '/*!50000$1*/'),
	],
	markup: [
		mixCase,
		(text, choice) => text.replace(/ (?=on|src|href|style)/gi, choice.of(['/', '\t', '\n', '\u000c', ' / '])),
		(text, choice) =>
			text.replace(/javascript:/i, choice.of(['java\tscript:', 'javascript\n:', '\u0001javascript:', 'jAvAsCrIpT:', 'java\nscript:'])),
		(text, choice) => text.replace(/(on\w+)=/, `$1${choice.of([' =', '\n=', ' = '])}`),
	],
	unix: [
		(text, choice) =>
			text.replace(
				/(^|[;|&`(\n] ?)([a-z])([a-z]+)/g,
				(_whole, before: string, first: string, rest: string) => `${before}${first}${choice.of(["''", '\\', '""'])}${rest}`,
			),
		(text, choice) => text.replace(/([a-z]) (?=[a-z/-])/g, `$1${choice.of(['${IFS}', '\t', '$IFS$9', '  '])}`),
		(text) => text.replace(/([;|&]) ?/g, ' $1 '),
	],
	windows: [mixCase, (text) => text.replace(/([&|]) ?([a-z])([a-z]+)/g, '$1 $2^$3'), (text) => text.replace(/([&|]+)/g, ' $1 ')],
	path: [
		(text) => text.replaceAll('/', '\\'),
		(text) => text.replace(/(\w)\//g, '$1//'),
		(text) => text.replace(/(\w)\/(\w)/g, '$1/./$2'),
		(text) => `${text}\u0000.png`,
		mixCase,
	],
	script: [(text) => text.replace(/(\w)\(/g, '$1 ('), (text) => text.replace(/\(/g, '(\n'), (text) => text.replace(/([=,])/g, '$1 ')],
	text: [(text) => text],
};

function disguise(text: string, flavor: Flavor, choice: Choice): string {
	return choice.chance(0.5) ? text : choice.of(disguises[flavor])(text, choice);
}

function mixCase(text: string, choice: Choice): string {
	return text.replace(/[a-z]/gi, (letter) => (choice.chance(0.5) ? letter.toUpperCase() : letter.toLowerCase()));
}

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');
const hexOf = (byte: string): string => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
const escapeBytes = (text: string, unsafe: RegExp): string => bytesOf(text).replace(unsafe, hexOf);

/** Escapes characters that cannot occur in a request target. */
const minimal = (text: string): string => escapeBytes(text, /[^!"$-~]|[#&+%;]/g);
const component = (text: string): string => escapeBytes(text, /[^\w.~!*()'-]/g);

const encoders: readonly ((text: string) => string)[] = [
	minimal,
	minimal,
	component,
	component,
	(text) => component(text).replaceAll('%20', '+'),
	(text) => escapeBytes(text, /[^]/g),
	(text) => component(component(text)),
	(text) => component(text).replace(/%[0-7][0-9a-f]/g, (escape) => `%u00${escape.slice(1)}`),
];
const flavoredEncoders: Readonly<Record<Flavor, readonly ((text: string) => string)[]>> = {
	sql: [(text) => component(text.replaceAll("'", '\uff07'))],
	markup: [
		(text) => component(text.replace(/[<>"'(]/g, (character) => `&#${character.charCodeAt(0)};`)),
		(text) => component(text.replace(/[<>"(]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)),
		(text) => component(text).replaceAll('%3c', '%c0%bc').replaceAll('%3e', '%c0%be'),
		(text) => component(text.replaceAll('<', '\uff1c').replaceAll('>', '\uff1e')),
	],
	unix: [],
	windows: [],
	path: [
		(text) => minimal(text).replaceAll('/', '%c0%af').replaceAll('\\', '%c1%9c'),
		(text) => minimal(text).replaceAll('..', '%c0%ae%c0%ae'),
		(text) => minimal(text).replaceAll('/', '%252f').replaceAll('.', '%252e'),
		(text) => minimal(text).replaceAll('/', '%u2215'),
	],
	script: [(text) => component(text.replace(/[.(]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`))],
	text: [],
};

const plainFields: HttpRequest['headers'] = { host: 'gateway.example.com', accept: '*/*', 'user-agent': 'curl/8.14.1' };
const plainHead: VariantHead = { method: 'GET', path: '/v1/models', query: '', headers: plainFields };
const argumentNames = ['q', 'id', 'file', 'url', 'name', 'page', 'filter', 'cmd', 'next', 'v'];

type Placed = Pick<AttackVariant, 'position' | 'head' | 'body'>;

function placed(family: AttackFamily, payload: string, choice: Choice): Placed {
	const position = choice.chance(0.5) && family.places.includes('query') ? 'query' : choice.of(family.places);
	const encode = choice.of([...encoders, ...flavoredEncoders[family.flavor]]);
	const withFields = (fields: HttpRequest['headers']): Placed => ({
		position,
		head: { ...plainHead, headers: { ...plainFields, ...fields } },
	});
	switch (position) {
		case 'query':
			return { position, head: { ...plainHead, query: `a=1&${choice.of(argumentNames)}=${encode(payload)}&b=2` } };
		case 'name': {
			const referer = 'https://other-site.example/start';
			return { position, head: { ...plainHead, path: '/login', query: minimal(payload), headers: { ...plainFields, referer } } };
		}
		case 'path':
			// Keeps slashes of the payload in some variants, because a path contains slashes.
			return {
				position,
				head: { ...plainHead, path: `/${(choice.chance(0.5) ? minimal : component)(payload).replace(/\?/g, '%3f').replace(/^\//, '')}` },
			};
		case 'cookie':
			return withFields({
				cookie: `theme=dark; pref=${choice.chance(0.5) ? component(payload) : escapeBytes(payload, /[^ -~]|[;%]/g)}; lang=en`,
			});
		case 'header':
			return withFields(inHeader(family, payload, choice));
		case 'body': {
			const body = choice.chance(0.5) ? `a=1&v=${component(payload).replaceAll('%20', '+')}` : JSON.stringify({ a: 1, v: payload });
			return { position, head: plainHead, body };
		}
	}
}

function inHeader(family: AttackFamily, payload: string, choice: Choice): HttpRequest['headers'] {
	const raw = escapeBytes(payload, /[^ -~\x80-\xff]/g);
	if (family.name === 'scanner') return { 'user-agent': raw };
	const name = choice.of(['referer', 'user-agent', 'x-forwarded-host', 'x-custom', 'x-api-version', 'origin', 'accept-language']);
	if (name === 'referer') return { referer: `https://portal.example.com/search?q=${component(payload)}` };
	return { [name]: raw };
}
