import type { ClientDialect } from './dialect.ts';

/** Members of a dialect of OpenAI whose requests have no turns, tools or reasoning. */
export const withoutConversation = {
	requestsThinking: () => false,
	vendorFields: { canBeIn: () => false, find: () => [] },
	repair: () => undefined,
	vendorKind: 'openai',
	storedTurnsField: () => undefined,
	hasArgumentValues: false,
} as const satisfies Partial<ClientDialect>;
