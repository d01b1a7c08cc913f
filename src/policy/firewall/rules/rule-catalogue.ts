/**
 * Rules of the firewall by name. They have the names of AWS's managed rule groups wherever such a rule exists, so that users can map them.
 * Each family checks more parts than there.
 */
import { genericCode, javaDeserialization, log4j, php } from './code-signatures.ts';
import { unixCommands, windowsCommands } from './command-signatures.ts';
import { queryInjection } from './database-signatures.ts';
import { hiddenFiles, innerAddresses, localFiles, metadataAddresses, remoteFiles, restrictedExtensions } from './file-signatures.ts';
import { crossSiteScripting } from './markup-signatures.ts';
import { brokenPath, headerInjection, ldapInjection, sessionFixation, xpathInjection } from './protocol-signatures.ts';
import type { Signature } from './signature.ts';

export const ruleActions = ['block', 'monitor', 'off'] as const;
export type RuleAction = (typeof ruleActions)[number];

/** Parts of a request, as suffixes of rule names. */
export type RulePart = 'HEADER' | 'COOKIE' | 'QUERYARGUMENTS' | 'URIPATH' | 'BODY';

export interface Rule {
	readonly name: string;
	readonly part: RulePart;
	/** Action by default, which the configuration can override. */
	readonly defaultAction: RuleAction;
	/** Signatures of which one must match; none for rules that check something else. */
	readonly signatures: readonly Signature[];
}

interface Family {
	readonly signatures: readonly Signature[];
	readonly parts: readonly RulePart[];
	/** Signatures that are additionally checked in the path. */
	readonly inPath?: readonly Signature[];
}

const everywhere: readonly RulePart[] = ['HEADER', 'COOKIE', 'QUERYARGUMENTS', 'URIPATH', 'BODY'];

/** Rules with signatures, one for each part. */
const families: Readonly<Record<string, Family>> = {
	CrossSiteScripting: { signatures: crossSiteScripting, parts: everywhere },
	EC2MetaDataSSRF: { signatures: metadataAddresses, parts: ['COOKIE', 'QUERYARGUMENTS', 'URIPATH', 'BODY'] },
	GenericCodeInjection: { signatures: genericCode, parts: everywhere },
	GenericLFI: { signatures: localFiles, parts: everywhere, inPath: hiddenFiles },
	GenericSSRF: { signatures: innerAddresses, parts: ['COOKIE', 'QUERYARGUMENTS', 'BODY'] },
	GenericRFI: { signatures: remoteFiles, parts: ['QUERYARGUMENTS', 'URIPATH', 'BODY'] },
	HeaderInjection: { signatures: headerInjection, parts: ['COOKIE', 'QUERYARGUMENTS', 'URIPATH', 'BODY'], inPath: brokenPath },
	JavaDeserializationRCE: { signatures: javaDeserialization, parts: everywhere },
	LDAPInjection: { signatures: ldapInjection, parts: ['COOKIE', 'QUERYARGUMENTS', 'BODY'] },
	Log4JRCE: { signatures: log4j, parts: everywhere },
	PHPHighRiskMethodsVariables: { signatures: php, parts: everywhere },
	RestrictedExtensions: { signatures: restrictedExtensions, parts: ['QUERYARGUMENTS', 'URIPATH'] },
	SQLi: { signatures: queryInjection, parts: everywhere },
	SessionFixation: { signatures: sessionFixation, parts: ['QUERYARGUMENTS'] },
	UNIXShellCommandsVariables: { signatures: unixCommands, parts: everywhere },
	WindowsShellCommands: { signatures: windowsCommands, parts: everywhere },
	XPathInjection: { signatures: xpathInjection, parts: ['COOKIE', 'QUERYARGUMENTS', 'BODY'] },
};

/** Rules that check something other than signatures. */
const specialRules = {
	NoUserAgent_HEADER: { part: 'HEADER', defaultAction: 'monitor' },
	UserAgent_BadBots_HEADER: { part: 'HEADER', defaultAction: 'block' },
	SizeRestrictions_QUERYSTRING: { part: 'QUERYARGUMENTS', defaultAction: 'block' },
	SizeRestrictions_Cookie_HEADER: { part: 'COOKIE', defaultAction: 'block' },
	SizeRestrictions_BODY: { part: 'BODY', defaultAction: 'off' },
	SizeRestrictions_URIPATH: { part: 'URIPATH', defaultAction: 'block' },
} as const satisfies Record<string, Omit<Rule, 'name' | 'signatures'>>;

export type SpecialRuleName = keyof typeof specialRules;

export const rules: readonly Rule[] = [
	...Object.entries(specialRules).map(([name, rule]) => ({ name, ...rule, signatures: [] })),
	...Object.entries(families).flatMap(([family, { parts, signatures, inPath = [] }]) =>
		parts.map(
			(part): Rule => ({
				name: `${family}_${part}`,
				part,
				defaultAction: part === 'BODY' ? 'off' : 'block',
				signatures: part === 'URIPATH' ? [...signatures, ...inPath] : signatures,
			}),
		),
	),
];

export const ruleNames: readonly string[] = rules.map(({ name }) => name);
