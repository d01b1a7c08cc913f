/** Names and values that split a request's usage, such as a project. */
import { Rejection } from './rejection.ts';

export type Attributes = Readonly<Record<string, string>>;

export const maxAttributes = 8;
export const attributeNamePattern = /^[a-z][a-z0-9_]{0,31}$/;
/** Visible ASCII characters, which also a header field can contain. */
const valuePattern = /^[\x21-\x7e]{1,128}$/;

/** Header field `name=value,name=value` of clients that may set attributes. */
export const attributesHeader = 'x-gateway-attributes';

export function isAttributeValue(text: string): boolean {
	return valuePattern.test(text);
}

/** Returns the canonical JSON of attributes, empty for none. Equal attributes have equal texts. */
export function attributesText(attributes: Attributes): string {
	const names = Object.keys(attributes).toSorted();
	return names.length === 0 ? '' : JSON.stringify(Object.fromEntries(names.map((name) => [name, attributes[name]])));
}

/**
 * Reads the header field, and adds the attributes of the access token, which take precedence.
 * @throws `Rejection` `field_invalid`.
 */
export function readAttributes(text: string, ofToken: Attributes | undefined): Attributes {
	const attributes: Record<string, string> = {};
	for (const [index, part] of text.split(',').entries()) {
		const [name, value] = readAttribute(part.trim(), index + 1);
		if (Object.hasOwn(attributes, name)) throw invalid(`names \`${name}\` twice: send each name once`);
		attributes[name] = value;
	}
	const all = { ...attributes, ...ofToken };
	const count = Object.keys(all).length;
	if (count <= maxAttributes) return all;
	const ofClaims = Object.keys(ofToken ?? {}).length;
	const counted = ofClaims === 0 ? '' : `, ${ofClaims} of them from claims of the access token`;
	throw invalid(`makes ${count} attributes${counted}: send at most ${maxAttributes} altogether`);
}

const maxShownLength = 64;

/** @param place of the attribute in the list, from 1. */
function readAttribute(part: string, place: number): readonly [name: string, value: string] {
	const at = part.indexOf('=');
	if (at === -1) throw invalid(`has no \`name=value\` in place ${place}, but ${shown(part)}`);
	const name = part.slice(0, at);
	const value = part.slice(at + 1);
	if (!attributeNamePattern.test(name)) {
		throw invalid(`has the name ${shown(name)}: a name is 1 to 32 characters of a-z 0-9 _ and begins with a letter`);
	}
	if (isAttributeValue(value)) return [name, value];
	throw invalid(`has the value ${shown(value)} for \`${name}\`: a value is 1 to 128 visible ASCII characters without commas`);
}

function shown(text: string): string {
	return JSON.stringify(text.slice(0, maxShownLength));
}

function invalid(what: string): Rejection {
	return new Rejection('field_invalid', { param: attributesHeader, message: `\`${attributesHeader}\` ${what}` });
}
