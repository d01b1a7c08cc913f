/** Kinds of personal data. */
export const piiKinds = ['ssn', 'card', 'email', 'phone', 'iban', 'ip', 'aws_key', 'api_key'] as const;

export type PiiKind = (typeof piiKinds)[number];

export interface PiiMatch {
	readonly kind: PiiKind;
	readonly start: number;
	readonly end: number;
}
