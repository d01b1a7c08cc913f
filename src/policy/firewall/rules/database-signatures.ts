/** `SQLi`: pieces of queries that end a value and go on as SQL, and operators of document databases. */
import { plain, type Signature, uncommented } from './signature.ts';

export const queryInjection: readonly Signature[] = [
	...uncommented(
		/union ?(?:all|distinct|select)? ?\(? ?select/,
		/\bselect\b[^\n]{1,100}\bfrom\b/,
		/\bselect ?(?:\(|if ?\(|case\b|pg_|sleep|benchmark|@@|user ?\(|version ?\(|database ?\(|char ?\(|concat ?\(|load_file)/,
		/\binsert (?:ignore )?into [^\n]{1,80}(?:\bvalues?\b|\bselect\b|\()/,
		/\bdelete from [\w`"[.]/,
		/\bupdate [\w`"[.\]]{1,60} set [\w`"[.\]]{1,60} ?=/,
		/; ?(?:drop|truncate|replace|insert|delete|update|alter|create|declare|exec|execute|grant|revoke|shutdown|rename|select|merge|call|sleep|waitfor)\b ?[ (["'`@]/,
		/\b(?:drop|alter|create|truncate) (?:table|database|schema|view|index|function|procedure|user|role)\b/,
		/\binto (?:out|dump)file\b|\bload_file ?\(|\bload data\b[^\n]{0,40}\binfile\b/,
		/\b(?:sleep|benchmark|pg_sleep|randomblob|dbms_pipe\.receive_message) ?\( ?(?:[\d"'(]|mod ?\(|md5|sha)/,
		/\bpg_(?:sleep|read_file|ls_dir|read_binary_file)\b|\bwaitfor (?:delay|time)\b/,
		/\b(?:xp_|sp_)(?:cmdshell|executesql|oacreate|oamethod|reg[a-z]{3,20}|dirtree|makewebtask|password|who)|\bexec(?:ute)?(?: immediate)? ?\(? ?(?:xp_|sp_|master|@)/,
		/\b(?:information_schema|sysobjects|syscolumns|sysibm|all_tables|user_tables|msysaccessobjects|sqlite_master|pg_catalog|pg_shadow|mysql\.(?:user|db)|sys\.(?:tables|objects|user))/,
		/@@(?:version|servername|hostname|datadir|basedir|global)|\b(?:current_user|session_user|system_user) ?\(/,
		/\b(?:extractvalue|updatexml|xmltype|dbms_[a-z]{2,20}|utl_(?:http|inaddr|file)|ctxsys\.|jsonb?_(?:pretty|extract|each|keys|build_object)|unistr|group_concat|string_agg|row_to_json|table_to_xml|query_to_xml|database_to_xml|lo_(?:get|put|import|export|from_bytea)) ?\(/,
		// A number must be a whole word: random letters, as in tokens and cursors, hold `2or1` too.
		/(?:['"`)]|(?<!\w|\w-)\d{1,20}) ?(?:or|and|xor|\|\||&&|having|like|rlike|regexp|div|between) ?(?:not |binary |\()?(?:['"`(@]|\d{1,20}\b)/,
		/\b(?:or|and|xor) (?:not )?['"`(]?[\w@.]{1,40}['"`)]? ?(?:=|<|>|!=|<=>|like |rlike |regexp |is (?:not )?null|in ?\()/,
		/\b(?:or|and) (?:true|false|\(? ?exists|\(? ?select|\{ ?if)\b/,
		/\bhaving [^\n]{1,60}[<>=]|\bgroup by [^\n]{1,60}(?:--|#|\(|,)|\border by \d{1,4} ?(?:--|#|,|;|$)/,
		/\bcase (?:[\w'"().]{1,40} )?when\b|\bif ?\( ?(?:\d|now ?\(|select|length ?\(|ascii ?\(|substr|user ?\()|\)like\(/,
		/(?:['"`)]|(?<!\w|\w-)\d{1,20}) ?(?:--[ -]?|#)(?:\n|$)|['"] ?;(?:\n|$)/,
		/(?:'|"|\b[a-z_]{2,40}|\))::(?:jsonb?|int[248]?|integer|bool|boolean|text|numeric|bytea|regclass|varchar)\b/,
		/['"] ?(?:@>|<@|->>?|#>>?|#-|@\?|@@|\?[|&]|\? ?') ?['"\d\w]/,
		/['"} ] ?[<>=] ?'\$[.[]/,
		/\b(?:procedure analyse|autonomous_transaction|open cursor|fetch next|create or replace|nvl|iif|nullif|elt|make_set|char_length|ascii|ord|mid|substring|substr|hex|unhex|concat_ws|concat) ?\( ?(?:\(|select|0x|user|@@|password|char ?\()/,
		/\b(?:chr|char|nchar) ?\( ?\d{1,3} ?\)(?: ?(?:\|\||\+|,)| ?$)/,
		/\{ ?(?:if|fn|oj) [a-z]{2,20}\(/,
		/\b(?:aes_(?:de|en)crypt|bit_(?:and|or|xor|length)|cast|charindex|char_length|coalesce|compress|connection_id|conv|convert_tz|count|crc32|cume_dist|current_(?:database|schema|setting|timestamp)|date_(?:add|format|sub|trunc)|db_(?:id|name)|dense_rank|des_(?:de|en)crypt|export_set|find_in_set|found_rows|from_(?:base64|days|unixtime)|gen_random_uuid|generate_series|get_lock|has_table_privilege|host_name|ifnull|inet6?_(?:aton|ntoa)|is_(?:free|used)_lock|is_srvrolemember|isnull|json_(?:arrayagg|object|value|table|contains|length|valid)|last_insert_(?:id|rowid)|len|load_extension|makedate|master_pos_wait|name_const|nullif|num_nonnulls|object_(?:id|name)|octet_length|old_password|patindex|period_(?:add|diff)|pg_[a-z_]{3,40}|polygon|power|quarter|quotename|rank|regexp_(?:substr|like|replace|instr|matches)|release_lock|row_(?:count|number)|schema_name|server_?name|set_config|soundex|split_part|sqlite_(?:version|source_id|compileoption_get)|st_[a-z]{3,20}|starts_with|strcmp|str_to_date|subdate|substring_index|suser_s?name|sysdate|time_format|to_(?:base64|char|date|days|json|jsonb|number|timestamp)|to_?seconds|total_changes|tsvector_to_array|txid_current|ucase|unhex|uncompress|unix_timestamp|user_name|utc_(?:date|time)|uuid_short|version|weekday|xmlelement|xmlforest|zeroblob)\(/,
	),
	...plain(
		/\/\*[!+]/,
		/\[ ?\$(?:eq|ne|n?in|[gl]te?|regex|exists|where|not|x?or|nor|and|all|size|type|mod|slice|elemmatch|expr|jsonschema|text|comment|options|function|lookup)\b/,
		/\{ ?['"]?\$(?:eq|ne|n?in|[gl]te?|regex|exists|where|or|nor|expr|function)['"]? ?:/,
	),
];
