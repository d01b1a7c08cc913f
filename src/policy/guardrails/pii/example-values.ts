/** Values that no person has, because they are published as examples. Instructions and tool definitions show formats with them. */

/** Mailboxes at domains of RFC 6761, and mailboxes without a person's name at domains of RFC 2606. */
const exampleMailbox =
	/@(?:[\w-]+\.)*(?:example|test|invalid|localhost)$|^(?:users?|you|your[-_.]?(?:e?mail|name)|name|e?mail|test|foo|bar|me|someone|admin|root|ops|team|info|example)\d*@(?:[\w-]+\.)*example\.(?:com|net|org)$/i;
/** Networks of RFC 5737. */
const exampleIpv4 = /^(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}$/;
/** Networks of RFC 3849 and RFC 9637. */
const exampleIpv6 = /^(?:2001:0?db8|3fff:0?[0-9a-f]{1,3}):/i;
/** North American numbers for fiction: 555-0100 to 555-0199 in any area. */
const examplePhone = /^1?\d{3}55501\d\d$/;
const exampleKey = /example|placeholder|your[-_]/i;

const examples: Readonly<Record<string, (written: string) => boolean>> = {
	email: (written) => exampleMailbox.test(written),
	ip: (written) => exampleIpv4.test(written) || exampleIpv6.test(written),
	phone: (written) => examplePhone.test(written.replaceAll(/\D/g, '')),
	aws_key: (written) => exampleKey.test(written),
	api_key: (written) => exampleKey.test(written),
};

/** @param kind of the match. @param written text of the match. */
export function isExampleValue(kind: string, written: string): boolean {
	return examples[kind]?.(written) ?? false;
}
