/** Strings that programs trip over, written for this project. */

// biome-ignore format: one look shows what is there
/** Texts that mean something to some parser, or nothing to any. */
export const hostileStrings: readonly string[] = [
	// Words that languages give a meaning
	'undefined', 'null', 'NULL', 'nil', 'None', 'true', 'false', 'NaN', '-Infinity', '[object Object]', '__proto__', 'constructor', 'prototype',
	'hasOwnProperty', 'toString', 'valueOf', '__defineGetter__', 'then', 'length', '$where', '$ne',
	// Numbers and what looks like them
	'0', '-0', '1e400', '1E-400', '0x10', '0b1', '0o7', '١٢٣', '1,000', '1/0', '9007199254740993', '00123', '+1', '.5', '1_000', '٠', '²³',
	// Blanks and nothing
	'', ' ', '\t', '\n', '\r\n', '\u00a0', '\u2028', '\u2029', '\u200b', '\ufeff', '\u3000', '\v\f', '\u0085',
	// Controls
	'\u0000', 'a\u0000b', '\u0001\u001f', '\u007f', '\u0080\u009f', '\u001b[31mred\u001b[0m', '\u0007', '\u0008',
	// Unicode
	'é', 'e\u0301', 'ÅÅ', 'ß', 'ı', 'İ', 'ﬁ', '𝒳', '👩‍👩‍👧‍👦', '🇩🇪', '👍🏿', '\ud83d', '\ude00', '\ude00\ud83d', '\uffff', '\ufffe', '\u{10ffff}', '\u{e0041}',
	'a\u0300'.repeat(200), 'Z͑ͫ̓ͪ̂ͫ̽͏̴̙', '\u202eabc', '\u2066x\u2069', 'שלום', 'مرحبا', '漢字', 'ᚠᛇᚻ', '﷽', 'Ω≈ç√∫', 'ʇxǝʇ',
	// Markup and scripts
	'<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', '<!--', ']]>', '<![CDATA[', '&lt;', '&#0;', 'javascript:0', "';alert(1)//", '{{7*7}}', '${7*7}',
	'#{7*7}', '<%= 7*7 %>', '%{7*7}', '${jndi:ldap://127.0.0.1/a}', '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
	// Shells and files
	'; ls', '| cat', '`id`', '$(id)', '&& true', '../../../../etc/passwd', '..\\..\\windows\\win.ini', '/dev/null', 'CON', 'C:\\', '~', '*', '?', 'file:///etc/passwd', '-rf', '--help',
	// Formats
	'%s%s%s%n', '%x', '%00', '%0d%0a', '%c0%ae', '{0}', '\\', '\\\\', '\\u0000', '\\x00', '\\n', '"', "'", '`', '""', "''", '","', '{"a":', '[', '}', '\u2019',
	// Streams of events and of HTTP
	'data: [DONE]', '\n\ndata: {}\n\n', 'event: message_stop', '\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'a: b\r\nc: d',
	// Long
	'a'.repeat(10_000), '('.repeat(5000), '\\'.repeat(5000), '😀'.repeat(2000), ' '.repeat(5000),
];

// biome-ignore format: one look shows what is there
/** What an SQL interpreter would answer differently, later, or not at all. */
export const sqlStrings: readonly string[] = [
	`'`, `''`, `"`, `' OR '1'='1`, `' OR 1=1--`, `' OR 1=1#`, `" OR ""="`, `') OR ('1'='1`, `1 OR 1=1`, `1; DROP TABLE clients`, `'; DROP TABLE clients;--`,
	`' UNION SELECT NULL--`, `' UNION SELECT 1,2,3--`, `' UNION ALL SELECT sql FROM sqlite_master--`, `' AND 1=2--`, `' AND (SELECT 1)=1--`, `'||(SELECT '')||'`,
	`' || randomblob(100000000) || '`, `'; SELECT pg_sleep(5);--`, `' OR pg_sleep(5)--`, `'||pg_sleep(5)--`, `1); SELECT pg_sleep(5)--`, `' AND 1=(SELECT COUNT(*) FROM pg_class)--`,
	`' AND 1=LIKE('ABCDEFG',UPPER(HEX(RANDOMBLOB(100000000/2))))--`, `admin'--`, `admin'/*`, `agent' AND '1'='1`, `agent'--`, `agent" --`, `agent%27--`, `agent'||'`,
	`\\'; --`, `\u2019 OR 1=1--`, `%`, `_`, `agent%`, `*`, `/**/`, `--`, `;`, `$1`, `?`, `:id`, `@id`, `$$`, `E'\\x27'`, `0x61646d696e`, `CHAR(97)`, `NULL`, `CURRENT_USER`,
];
