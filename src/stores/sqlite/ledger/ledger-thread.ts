import { extname } from 'node:path';
import { createStoreThread, type StoreThread, type ThreadCalls } from '../../store-thread.ts';
import type { LedgerThreadData } from './ledger-worker.ts';

export function createLedgerThread<Calls extends ThreadCalls>(data: LedgerThreadData): StoreThread<Calls> {
	const file = new URL(`./ledger-worker${extname(import.meta.url)}`, import.meta.url);
	return createStoreThread({ file, name: `ledger ${data.kind}`, data });
}
