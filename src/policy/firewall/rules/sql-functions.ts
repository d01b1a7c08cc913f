/** Functions of SQL dialects. */
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Names that are words of no language and functions of few others: a call by such a name is a piece of SQL. */
export const distinctiveSqlFunctions: ReadonlySet<string> = new Set(
	words(`
		addtime aes_decrypt aes_encrypt any_value asymmetric_decrypt atn2 bin_to_uuid bit_and bit_count bit_length bit_or bit_xor
		 char_length character_length charindex chr coercibility concat concat_ws connection_id conv convert_tz
		convert_from convert_to crc32 cume_dist curdate current_catalog current_database current_query current_role current_schema
		current_schemas current_setting current_timestamp current_user curtime currval database_to_xml date_add date_format date_part
		date_sub date_trunc dateadd datediff datename datepart datediff_big datetimefromparts dayname dayofmonth dayofweek dayofyear db_id
		db_name dense_rank des_decrypt des_encrypt encode_string exp_set export_set extractvalue extract_value find_in_set
		first_value format_bytes found_rows from_base64 from_days from_unixtime fulltextcatalogproperty gen_random_uuid generate_series
		generate_subscripts get_bit get_byte get_format get_lock getdate getutcdate getanchestors getpgusername group_concat 
		has_database_privilege has_table_privilege host_name ident_current ifnull inet_aton inet_ntoa inet6_aton inet6_ntoa inet_client_addr
		inet_server_addr inet_server_port initcap instr is_free_lock is_ipv4 is_ipv6 is_member is_srvrolemember is_used_lock is_uuid
		isdate isnull isnumeric json_array json_array_append json_array_elements json_arrayagg json_build_object json_contains json_depth
		json_each json_extract json_group_array json_insert json_keys json_length json_merge json_merge_patch json_object json_objectagg
		json_overlaps json_patch json_populate_record json_pretty json_query json_quote json_remove json_replace json_schema_valid
		json_search json_set json_storage_size json_table json_tree json_type json_unquote json_valid json_value jsonb_array_elements
		jsonb_build_object jsonb_each jsonb_extract_path jsonb_insert jsonb_object jsonb_pretty jsonb_set jsonb_strip_nulls jsonb_typeof
		julianday last_insert_id last_insert_rowid last_value lcase load_extension load_file localtimestamp
		lo_export lo_from_bytea lo_get lo_import lo_put lpad ltrim make_set makedate maketime master_pos_wait md5_hex months_between
		name_const nchar newid newsequentialid next_day nextval nth_value ntile nullif num_nonnulls num_nulls numtodsinterval nvl nvl2
		object_definition object_id object_name object_schema_name octet_length old_password openquery openrowset opendatasource 
		original_login parsename patindex percent_rank percentile_cont period_add period_diff pg_backend_pid
		pg_client_encoding pg_current_logfile pg_database_size pg_get_userbyid pg_ls_dir pg_postmaster_start_time pg_read_binary_file
		pg_read_file pg_reload_conf pg_relation_size pg_size_pretty pg_sleep pg_sleep_for pg_sleep_until pg_stat_file pg_table_is_visible
		pg_terminate_backend pg_typeof plainto_tsquery ps_current_thread_id ps_thread_id query_to_xml quote_ident quote_literal
		quote_nullable quotename randomblob rawtohex rawtonhex regexp_instr regexp_like regexp_matches regexp_replace
		regexp_split_to_array regexp_split_to_table regexp_substr release_all_locks release_lock roles_graphml row_count
		row_number row_to_json rpad rtrim schema_name schema_to_xml scope_identity sec_to_time serverproperty session_user sessionproperty
		set_bit set_byte set_config setseed setval sha1 sha2 smalldatetimefromparts soundex split_part sql_variant_property
		sqlite_compileoption_get sqlite_compileoption_used sqlite_offset sqlite_source_id sqlite_version st_area st_asgeojson st_astext
		st_buffer st_contains st_distance st_geohash st_geomfromtext st_intersects st_latfromgeohash st_longfromgeohash st_pointfromgeohash
		starts_with statement_digest statement_digest_text stddev_pop stddev_samp str_to_date strcmp strftime string_agg string_escape
		string_to_array subdate substr substring substring_index subtime suser_id suser_name suser_sid suser_sname sys_context
		sys_connect_by_path sys_eval sys_exec sys_extract_utc sys_guid sys_typeid sys_xmlgen sysdate sysdatetime sysdatetimeoffset
		system_user sysutcdatetime table_to_xml tableoid textpos time_format time_to_sec timediff timeofday timestampadd timestampdiff
		to_ascii to_base64 to_binary_double to_char to_clob to_date to_days to_dsinterval to_hex to_json to_jsonb to_lob to_nchar to_number
		to_seconds to_timestamp to_tsquery to_tsvector to_yminterval total_changes transaction_timestamp ts_rank tsvector_to_array
		txid_current txid_current_snapshot typeproperty tzoffset tz_offset ucase uncompress uncompressed_length unhex unistr unixepoch
		unix_timestamp updatexml upperexpr user_id user_name userenv utc_date utc_time utc_timestamp uuid_generate_v4 uuid_short
		uuid_to_bin validate_password_strength var_pop var_samp vsize wait_for_executed_gtid_set wait_until_sql_thread_after_gtids weekofyear
		weekday width_bucket xmlagg xmlcomment xmlconcat xmlelement xmlexists xmlforest xmlparse xmlpi xmlquery xmlroot xmlserialize xmltable
		xmltype xp_cmdshell xp_dirtree xp_regread xp_fileexist xpath_exists xpath_table xpath_string yearweek zeroblob 
		sp_executesql sp_oacreate sp_oamethod fn_listextendedproperty fn_xe_file_target_read_file fn_get_audit_file fn_trace_gettable
		hextoraw dump_hex bitand iif sqlite_log dbms_assert hex compress coalesce greatest char 
	`),
);

/** Names that are words too: calls have the bracket directly behind them. */
export const wordSqlFunctions: ReadonlySet<string> = new Set(
	words(`
		analyse ascii benchmark cast charset collation database elt grouping lag likelihood likely locate mid now ord overlay permissions radians rand rank replicate similarity sleep stuff unicode unlikely
	`),
);

/** Names that are functions elsewhere too, or words: calls that mean SQL only next to other tokens of it. */
export const commonSqlFunctions: ReadonlySet<string> = new Set(
	words(`
		abs avg bin ceil ceiling character convert count current_date current_time date day decode degrees encode
		exists exp extract field floor format hour if insert interval least left len length ln log log10 log2 lower max md5 min
		minute mod month password pi position pow power quarter quote random repeat replace reverse right round schema second sha sign sin
		space sqrt std sum tan time timestamp trim truncate typeof upper user uuid values variance version week year sqlite_master decrypt
		encrypt elt last first rowid changes
	`),
);
