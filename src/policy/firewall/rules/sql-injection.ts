/** Detects SQL in values: a value that ends its place in a query, or begins a statement. */
import { maxScannedLength } from './canonical-text.ts';
import type { TextTest } from './signature.ts';
import { sqlTokens } from './sql-tokens.ts';

/** Matches SQL after a value ended a string. English has apostrophes and quotes too, but words follow them, not operators with operands. */
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

/** Matches the same after a number, except what sentences about numbers contain. */
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

/** Matches SQL at any position. */
const statement = new RegExp(
	[
		// Comparison of constants.
		'^sos$',
		'^&(?:[ns]o|N$)',
		'&\\(*(?:n\\)*o\\(*n|s\\)*o\\(*s)',
		'[&o]\\(*f\\(',
		// The name at the end may belong to a union in a sentence.
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

/** Cheap test before a value is tokenised as SQL. */
const isWorthReading =
	/['"`;#(]|--|\/\*|\b(?:and|or|xor|union|select|order|group|having|where|into|delete|drop|update|insert|case|waitfor)\b|&&|\|\|/;

/** Tokens of which every statement has one. */
const statementTokens = /[SUIdDuRECfgVXr&]|^sos$/;

/** Checks one value per line, as in a decoded part. */
export const sqlInjection: TextTest = {
	source: 'SQL, read as tokens',
	anySign: ' \'"`;#()-/|&',
	test: (text) => isWorthReading.test(text) && text.split('\n').some(isSql),
};

/** Strings of JSON, each of which is a separate value. */
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

/**
 * Checks a value, also without backslashes before quotes. If the server escapes quotes by doubling them, the database reads such a
 * backslash as the escape of the first one.
 */
function isSqlValue(value: string): boolean {
	return readsAsSql(value) || (/\\['"]/.test(value) && readsAsSql(value.replace(/\\(?=['"])/g, '')));
}

function readsAsSql(value: string): boolean {
	const bare = sqlTokens(value, '');
	if (withNumber.test(bare) || hasStatement(bare)) return true;
	const unquoted = value.replace(quotation, ' word ');
	return hasBreak(unquoted, "'") || hasBreak(unquoted, '"') || hasBreak(unquoted, '`');
}

/** Words in quotes, surrounded by blanks or punctuation: a quotation, which ends at its closing quote. */
const quotation =
	/(?<![^\s(,+-])(["'])(?:\w[^"'\n]{0,80}[\w.!?*]|\w|[&+#*/!?@%<>{}[\]();:,.$^~|\\-]|[<>]=?\d{0,6}|<>)\1(?![^\s),.;:!?+*-])/g;
/** Value that continues with a word after a quotation: `"salt" and "pepper`. */
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
