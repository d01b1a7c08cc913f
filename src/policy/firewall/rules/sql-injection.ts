/** Judges values as SQL: does what is put into a query end its place in it, or begin a statement? */
import { maxScannedLength } from './canonical-text.ts';
import type { TextTest } from './signature.ts';
import { sqlTokens } from './sql-tokens.ts';

/**
 * What goes on after a string was ended by the value. English has apostrophes and quotes too, but next to it come words, not operators
 * with operands.
 */
const afterString = new RegExp(
	[
		'[ck]',
		';(?:[ck]|$|Sw?(?:$|[,Fck]))',
		'&\\(*(?:[nsvwNT]\\)*(?:o|[ir][nsvNfg(])|[nsvN]\\)*(?:$|[ck;&])|f|g\\(|C|w\\)*[ck])',
		'&\\(+S',
		'[om]\\(*(?:s(?!w)|f|g\\(|v|C|\\(S)',
		'[om]n\\)*(?:$|[ck&])',
		'[ir]\\(*(?:s|f|\\(S|n(?:$|[ck&s]))',
		'U\\(*S',
		'S(?:$|w?[,Fck]|w$|\\(+[^n)])',
		'r$',
		'W\\(*[nsvwfgN]\\)*[oir]',
		'G(?:n|w(?:[ck,W]|$))',
		'Ln',
	].join('|'),
);
const inString = new RegExp(`^s\\)*(?:${afterString.source})`);

/** The same after a number, but for what sentences about numbers say. */
const afterNumber = new RegExp(
	[
		'\\)*c$',
		'\\)+[ck]',
		'\\)*&\\(*(?:[nsvwNT]\\)*(?:o|[ir](?:[sf]|\\(|N)|rn|in&n)|n\\)*[ck]|[svN]\\)*(?:$|[ck])|f|\\(S|C|g\\([^)]*\\)*[om])',
		'\\)+&\\(*[nsvwN]',
		'\\)*[omir]\\(*(?:f|\\(S)',
		'\\)*U\\(*S',
		'\\)*W\\(*[nsvwfgN]\\)*[oir]',
		'\\)*G(?:n(?:[;ck,]|$)|w[ck])',
		'\\)*X[wf]',
		's?F[w(][ck;]|sF',
	].join('|'),
);
const withNumber = new RegExp(`^m?\\(*n(?:${afterNumber.source})`);

/** What is SQL wherever it stands. */
const statement = new RegExp(
	[
		// A comparison of constants.
		'^sos$',
		'^&(?:[ns]o|N$)',
		'&\\(*(?:n\\)*o\\(*n|s\\)*o\\(*s)',
		'[&o]\\(*f\\(',
		// The name at the end may be one of a union in a sentence.
		'U\\(*S\\(*(?:[nsvNfgm(]|w[,Fck])',
		'[ns)]U\\(*Sw$',
		'\\(S(?:[nsvNfgm]|w[,FoW])',
		'S\\(+(?:[vfS]|[sN]\\)|w\\)?F)',
		'S[vfg]',
		'S[nsNm](?:,[nsNwfg(]|F[w(])',
		'Sw(?:,w)+F[w(]',
		'SwFw\\(?(?:W\\(*[wnsg]|[;ck]|Gw|Ln)',
		';+(?:S(?:[nsvNfm]|w[,F]|g\\()|DT|RTw|dF|E(?:v|s|$|[ck;])|f\\(|U)',
		'^DTw+(?:[;ck]|$)',
		'RTw\\(w[wT]',
		'uwzwo',
		'Iw?(?:\\(?[wns(]{0,4}[,)w]{0,40})?(?:V\\(|S|\\(w)',
		'dFw(?:W\\(*[wnsg]\\)*[oi]|[;ck])',
		'C[wn]?H[^;t]{1,30}t',
		'^\\)+r\\(',
		';Dj',
		'\\(w(?:,w){0,12}\\)V\\(',
		'f\\([^()]{0,8}(?:f\\(|S|g\\([^()]{0,8}(?:f|S))',
		'g\\([^()]{0,4}f\\([^()]{0,8}[fgSs]',
		'X[wf]?s$',
	].join('|'),
);

/** Whether a value may be worth reading as SQL at all. */
const isWorthReading =
	/['"`;#(]|--|\/\*|\b(?:and|or|xor|union|select|order|group|having|where|into|delete|drop|update|insert|case|waitfor)\b|&&|\|\|/;

/** Without one of these tokens there is no statement. */
const statementTokens = /[SUIdDuRECfgVXr&]|^sos$/;

/** One value a line, as in a reading of a part. */
export const sqlInjection: TextTest = {
	source: 'SQL, read as tokens',
	anySign: ' \'"`;#()-/|&',
	test: (text) => isWorthReading.test(text) && text.split('\n').some(isSql),
};

/** Texts of JSON, each of which is a value of its own. */
const jsonText = /"(?:[^"\\]|\\.)*"/g;

function isSql(line: string): boolean {
	if (line.length < 2 || !isWorthReading.test(line)) return false;
	const value = line.slice(0, maxScannedLength).trim();
	if (!isJson(value)) return isSqlValue(value);
	return (
		isSqlValue(value.replace(jsonText, ' word ')) || (value.match(jsonText) ?? []).some((text) => isSqlValue(String(JSON.parse(text))))
	);
}

function isJson(value: string): boolean {
	if (!/^(?:\[[^]*\]|\{[^]*\})$/.test(value)) return false;
	try {
		JSON.parse(value);
		return true;
	} catch {
		return false;
	}
}

/** A server that doubles quotes leaves the backslash before one to the database. */
function isSqlValue(value: string): boolean {
	return readsAsSql(value) || (/\\['"]/.test(value) && readsAsSql(value.replace(/\\(?=['"])/g, '')));
}

function readsAsSql(value: string): boolean {
	const bare = sqlTokens(value, '');
	if (withNumber.test(bare) || hasStatement(bare)) return true;
	const unquoted = value.replace(quotation, ' word ');
	return hasBreak(unquoted, "'") || hasBreak(unquoted, '"') || hasBreak(unquoted, '`');
}

/** Words in quotes, with blanks or marks of a sentence around: a quotation, which ends where it seems to. */
const quotation =
	/(?<![^\s(,+-])(["'])(?:\w[^"'\n]{0,80}[\w.!?*]|\w|[&+#*/!?@%<>{}[\]();:,.$^~|\\-]|[<>]=?\d{0,6}|<>)\1(?![^\s),.;:!?+*-])/g;
/** A value that goes on with a word of a text that ended a quotation: `"salt" and "pepper`. */
const openQuotation = /\b(?:and|or) ["'][a-z][^"'=]{2,}$/;

function hasBreak(value: string, quote: "'" | '"' | '`'): boolean {
	if (!value.includes(quote)) return false;
	const tokens = sqlTokens(value, quote);
	if (/^s&s$/.test(tokens) && openQuotation.test(value)) return false;
	return inString.test(tokens) || hasStatement(tokens);
}

function hasStatement(tokens: string): boolean {
	return statementTokens.test(tokens) && statement.test(tokens);
}
