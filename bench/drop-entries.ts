/** Preload for Tollgate: the ledger drops its entries, which leaves the cost of a version without a ledger. */
import { LedgerQueue } from '../src/stores/sqlite/ledger/ledger-queue.ts';

const row = { failure: undefined };

LedgerQueue.prototype.open = () => row;
LedgerQueue.prototype.close = (_row, onClosed) => onClosed('closed');
