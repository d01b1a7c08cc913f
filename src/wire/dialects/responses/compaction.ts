import type { ClientDialect } from '../dialect.ts';
import { responses } from './responses.ts';

/** Requests that compact a conversation: a part of the Responses API that runs no tools, and has neither an output cap nor `store`. */
export const compaction: ClientDialect = {
	...responses,
	editedMembers: [],
	requestedOutput: () => ({ capTokens: undefined, choices: 1 }),
	writeCap: () => [],
	toolCallCap: { requested: () => 0, write: () => [] },
	storageEdits: () => [],
};
