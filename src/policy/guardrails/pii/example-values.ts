/** Values that no person has, because they are published as examples. Instructions and tool definitions show formats with them. */

/** Domains of RFC 2606 and RFC 6761, which have no mailboxes. */
const exampleDomain = /(?:^|[@.\s])(?:example\.(?:com|net|org)|example|test|invalid|localhost)$/i;
/** Networks of RFC 5737. */
const exampleIpv4 = /^(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}$/;
/** Networks of RFC 3849 and RFC 9637. */
const exampleIpv6 = /^(?:2001:0?db8|3fff:0?[0-9a-f]{1,3}):/i;
/** North American numbers for fiction: 555-0100 to 555-0199 in any area. */
const examplePhone = /^1?\d{3}55501\d\d$/;
/** Test cards of payment services. */
const exampleCards = new Set([
	'4242424242424242',
	'4111111111111111',
	'4012888888881881',
	'4000056655665556',
	'5555555555554444',
	'5105105105105100',
	'378282246310005',
	'371449635398431',
	'6011111111111117',
	'30569309025904',
	'3566002020360505',
]);
/** Numbers that were printed in advertisements, and are invalid since. */
const exampleSsns = new Set(['078051120', '219099999', '123456789']);
/** Examples of the registry of account numbers. */
const exampleIbans = new Set(['GB82WEST12345698765432', 'GB29NWBK60161331926819', 'DE89370400440532013000', 'FR1420041010050500013M02606']);
const exampleKey = /example|placeholder|your[-_]/i;

const examples: Readonly<Record<string, (written: string) => boolean>> = {
	email: (written) => exampleDomain.test(written),
	ip: (written) => exampleIpv4.test(written) || exampleIpv6.test(written),
	phone: (written) => examplePhone.test(written.replaceAll(/\D/g, '')),
	card: (written) => exampleCards.has(written.replaceAll(/\D/g, '')),
	ssn: (written) => exampleSsns.has(written.replaceAll(/\D/g, '')),
	iban: (written) => exampleIbans.has(written.replaceAll(/[^A-Z\d]/gi, '').toUpperCase()),
	aws_key: (written) => exampleKey.test(written),
	api_key: (written) => exampleKey.test(written),
};

/** @param kind of the match. @param written text of the match. */
export function isExampleValue(kind: string, written: string): boolean {
	return examples[kind]?.(written) ?? false;
}
