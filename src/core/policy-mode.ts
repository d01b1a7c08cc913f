/** `monitor` decides and records, and does not act. */
export const policyModes = ['enforce', 'monitor'] as const;
export type PolicyMode = (typeof policyModes)[number];
