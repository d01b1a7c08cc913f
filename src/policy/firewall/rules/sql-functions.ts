/** Functions of SQL dialects. */
import names from './sql-functions.json' with { type: 'json' };
import { wordsOf } from './words-of.ts';

/** Names that are words of no language and functions of few others: a call by such a name is a piece of SQL. */
export const distinctiveSqlFunctions = wordsOf(names.distinctiveSqlFunctions);
/** Names that are words too: calls have the bracket directly behind them. */
export const wordSqlFunctions = wordsOf(names.wordSqlFunctions);
/** Names that are functions elsewhere too, or words: calls that mean SQL only next to other tokens of it. */
export const commonSqlFunctions = wordsOf(names.commonSqlFunctions);
