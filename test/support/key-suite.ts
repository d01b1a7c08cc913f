/**
 * API keys in the published formats of many vendors, and ordinary text that looks like keys. All keys are random characters, generated at
 * run time from a printed seed, and belong to no account. Vendors are in three parts. Rules were developed from the developed one. The
 * held-out one was measured before any of its misses was read, then its prefixes were added. The measured one was written after that, and
 * no rule comes from it.
 */
import { createPiiDetector } from '../../src/policy/guardrails/pii/pii-detector.ts';
import { piiKinds } from '../../src/policy/guardrails/pii/pii-kind.ts';
import { TextScan } from '../../src/policy/guardrails/text-scan.ts';

export const keySeed = 20_261_125;

export type KeyHalf = 'developed' | 'held-out' | 'measured';
export const keyHalves: readonly KeyHalf[] = ['developed', 'held-out', 'measured'];

export interface KeyRow {
	readonly half: KeyHalf;
	/** Vendor of a key; kind of ordinary text otherwise. */
	readonly family: string;
	/** True if the text around the key says that it is one. */
	readonly isLabelled: boolean;
	readonly text: string;
	/** API key; empty for ordinary text. */
	readonly key: string;
}

type Random = (below: number) => number;

/** Generator (mulberry32) from the seed and a name, so that a new family does not change the others. */
function randomOf(name: string): Random {
	let state = Array.from(name).reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x01000193), keySeed);
	return (below) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
	};
}

const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const lower = upper.toLowerCase();
const digits = '0123456789';
const alphabets: Readonly<Record<string, string>> = {
	w: upper + lower + digits,
	u: `${upper}${lower}${digits}-_`,
	b: `${upper}${lower}${digits}+/`,
	h: `${digits}abcdef`,
	H: `${digits}ABCDEF`,
	d: digits,
	U: upper + digits,
	l: lower + digits,
	a: lower,
	2: `${upper}234567`,
};

/** Fills a pattern: `<w36>` is 36 characters of the alphabet `w`. */
function fill(random: Random, pattern: string): string {
	return pattern.replaceAll(/<([a-zA-Z2])(\d+)>/g, (_whole, name: string, count: string) => {
		const letters = alphabets[name] ?? '';
		return Array.from({ length: Number(count) }, () => letters.charAt(random(letters.length))).join('');
	});
}

const uuid = '<h8>-<h4>-4<h3>-a<h3>-<h12>';

interface Vendor {
	readonly name: string;
	readonly half: KeyHalf;
	/** Name of the vendor's variable. */
	readonly label: string;
	readonly pattern: string;
	/** True for keys without a prefix of their own, which only the text next to them identifies. */
	readonly isBare?: true;
}

function vendorsOf(half: KeyHalf, list: readonly (readonly [name: string, label: string, pattern: string, isBare?: true])[]): Vendor[] {
	return list.map(([name, label, pattern, isBare]) => ({ name, half, label, pattern, ...(isBare === undefined ? {} : { isBare }) }));
}

const vendors: readonly Vendor[] = [
	...vendorsOf('developed', [
		['openai', 'OPENAI_API_KEY', 'sk-<w20>T3BlbkFJ<w20>'],
		['openai project', 'OPENAI_API_KEY', 'sk-proj-<u74>T3BlbkFJ<u74>'],
		['anthropic', 'ANTHROPIC_API_KEY', 'sk-ant-api03-<u93>AA'],
		['stripe', 'STRIPE_SECRET_KEY', 'sk_live_<w24>'],
		['stripe webhook', 'STRIPE_WEBHOOK_SECRET', 'whsec_<w32>'],
		['github', 'GITHUB_TOKEN', 'ghp_<w36>'],
		['gitlab', 'GITLAB_TOKEN', 'glpat-<u20>'],
		['gitlab deploy', 'CI_DEPLOY_TOKEN', 'gldt-<u20>'],
		['slack bot', 'SLACK_BOT_TOKEN', 'xoxb-<d12>-<d13>-<w24>'],
		['slack rotated', 'SLACK_TOKEN', 'xoxe.xoxp-1-<w146>'],
		['google', 'GOOGLE_API_KEY', 'AIza<u35>'],
		['hugging face', 'HF_TOKEN', 'hf_<w34>'],
		['sendgrid', 'SENDGRID_API_KEY', 'SG.<u22>.<u43>'],
		['mailgun', 'MAILGUN_API_KEY', 'key-<h32>'],
		['mailchimp', 'MAILCHIMP_API_KEY', '<h32>-us12'],
		['square', 'SQUARE_ACCESS_TOKEN', 'EAAA<u60>'],
		['square oauth', 'SQUARE_SECRET', 'sq0csp-<u43>'],
		['discord', 'DISCORD_BOT_TOKEN', 'MT<w24>.<w6>.<u38>'],
		['databricks', 'DATABRICKS_TOKEN', 'dapi<h32>'],
		['postman', 'POSTMAN_API_KEY', 'PMAK-<h24>-<h34>'],
		['airtable', 'AIRTABLE_TOKEN', 'pat<w14>.<h64>'],
		['atlassian', 'JIRA_API_TOKEN', 'ATATT3xFfGF0<u171>=<H8>'],
		['doppler', 'DOPPLER_TOKEN', 'dp.pt.<w43>'],
		['planetscale', 'PLANETSCALE_TOKEN', 'pscale_tkn_<u43>'],
		['pulumi', 'PULUMI_ACCESS_TOKEN', 'pul-<h40>'],
		['supabase', 'SUPABASE_ACCESS_TOKEN', 'sbp_<h40>'],
		['resend', 'RESEND_API_KEY', 're_<w8>_<w24>'],
		['brevo', 'BREVO_API_KEY', 'xkeysib-<h64>-<w16>'],
		['pinecone', 'PINECONE_API_KEY', 'pcsk_<w6>_<w63>'],
		['elevenlabs', 'ELEVENLABS_API_KEY', 'sk_<h48>'],
		['openrouter', 'OPENROUTER_API_KEY', 'sk-or-v1-<h64>'],
		['cerebras', 'CEREBRAS_API_KEY', 'csk-<l48>'],
		['dynatrace', 'DT_API_TOKEN', 'dt0c01.<224>.<264>'],
		['contentful', 'CONTENTFUL_TOKEN', 'CFPAT-<u43>'],
		['hubspot', 'HUBSPOT_TOKEN', `pat-na1-${uuid}`],
		['mapbox', 'MAPBOX_SECRET', 'sk.eyJ1Ijoi<w60>.<w22>'],
		['sonarqube', 'SONAR_TOKEN', 'sqp_<h40>'],
		['tailscale', 'TS_AUTHKEY', 'tskey-auth-<w17>-<w32>'],
		['alibaba', 'ALIBABA_ACCESS_KEY_ID', 'LTAI5t<w18>'],
		['crates.io', 'CARGO_REGISTRY_TOKEN', 'cio<w32>'],
		['age', 'AGE_KEY', 'AGE-SECRET-KEY-1<U58>'],
		['datadog', 'DD_API_KEY', '<h32>', true],
		['cohere', 'COHERE_API_KEY', '<w40>', true],
		['mistral', 'MISTRAL_API_KEY', '<w32>', true],
		['azure openai', 'AZURE_OPENAI_API_KEY', '<h32>', true],
		['cloudflare', 'CLOUDFLARE_API_TOKEN', '<u40>', true],
		['heroku', 'HEROKU_API_KEY', uuid, true],
	]),
	...vendorsOf('held-out', [
		['stripe restricted', 'STRIPE_RESTRICTED_KEY', 'rk_live_<w99>'],
		['github fine-grained', 'GH_TOKEN', 'github_pat_<w22>_<w59>'],
		['gitlab runner', 'RUNNER_TOKEN', 'glrt-<u20>'],
		['slack app', 'SLACK_APP_TOKEN', 'xapp-1-A<U10>-<d13>-<h64>'],
		['google oauth', 'GOOGLE_CLIENT_SECRET', 'GOCSPX-<u28>'],
		['npm', 'NPM_TOKEN', 'npm_<w36>'],
		['pypi', 'PYPI_TOKEN', 'pypi-AgEIcHlwaS5vcmc<u150>'],
		['twilio', 'TWILIO_API_KEY', 'SK<h32>'],
		['telegram', 'TELEGRAM_BOT_TOKEN', '<d10>:AA<u33>'],
		['shopify', 'SHOPIFY_ACCESS_TOKEN', 'shpat_<h32>'],
		['docker hub', 'DOCKER_TOKEN', 'dckr_pat_<u27>'],
		['new relic', 'NEW_RELIC_API_KEY', 'NRAK-<U27>'],
		['asana', 'ASANA_TOKEN', '2/<d16>/<d16>:<h32>'],
		['bitbucket', 'BITBUCKET_APP_PASSWORD', 'ATBB<w32>'],
		['fly.io', 'FLY_API_TOKEN', 'fo1_<u43>'],
		['netlify', 'NETLIFY_AUTH_TOKEN', 'nfp_<w36>'],
		['prefect', 'PREFECT_API_KEY', 'pnu_<w36>'],
		['terraform cloud', 'TFE_TOKEN', '<w14>.atlasv1.<u67>'],
		['typeform', 'TYPEFORM_TOKEN', 'tfp_<u44>'],
		['langsmith', 'LANGSMITH_API_KEY', 'lsv2_pt_<h32>_<h10>'],
		['fireworks', 'FIREWORKS_API_KEY', 'fw_<w24>'],
		['together', 'TOGETHER_API_KEY', 'tgp_v1_<u43>'],
		['deepseek', 'DEEPSEEK_API_KEY', 'sk-<h32>'],
		['jina', 'JINA_API_KEY', 'jina_<h32><u28>'],
		['firecrawl', 'FIRECRAWL_API_KEY', 'fc-<h32>'],
		['voyage', 'VOYAGE_API_KEY', 'pa-<u43>'],
		['groq', 'GROQ_API_KEY', 'gsk_<w52>'],
		['replicate', 'REPLICATE_API_TOKEN', 'r8_<w37>'],
		['xai', 'XAI_API_KEY', 'xai-<w80>'],
		['easypost', 'EASYPOST_API_KEY', 'EZAK<w54>'],
		['frame.io', 'FRAMEIO_TOKEN', 'fio-u-<u64>'],
		['jfrog', 'ARTIFACTORY_API_KEY', 'AKCp<w69>'],
		['plaid', 'PLAID_ACCESS_TOKEN', `access-sandbox-${uuid}`],
		['readme', 'README_API_KEY', 'rdme_<l70>'],
		['shippo', 'SHIPPO_TOKEN', 'shippo_live_<h40>'],
		['buildkite', 'BUILDKITE_TOKEN', 'bkua_<h40>'],
		['circleci', 'CIRCLECI_TOKEN', 'CCIPAT_<w22>_<h40>'],
		['adafruit', 'ADAFRUIT_IO_KEY', 'aio_<w28>'],
		['nuget', 'NUGET_API_KEY', 'oy2<l43>'],
		['clojars', 'CLOJARS_TOKEN', 'CLOJARS_<h60>'],
		['posthog', 'POSTHOG_PERSONAL_API_KEY', 'phx_<w43>'],
		['neon', 'NEON_API_KEY', 'napi_<l64>'],
		['deepgram', 'DEEPGRAM_API_KEY', '<h40>', true],
		['assemblyai', 'ASSEMBLYAI_API_KEY', '<h32>', true],
		['fastly', 'FASTLY_API_TOKEN', '<u32>', true],
		['algolia', 'ALGOLIA_ADMIN_KEY', '<h32>', true],
		['hetzner', 'HCLOUD_TOKEN', '<w64>', true],
		['postmark', 'POSTMARK_SERVER_TOKEN', uuid, true],
	]),
	...vendorsOf('measured', [
		['notion', 'NOTION_TOKEN', 'ntn_<w46>'],
		['linear', 'LINEAR_API_KEY', 'lin_api_<w40>'],
		['vault', 'VAULT_TOKEN', 'hvs.<u95>'],
		['figma', 'FIGMA_TOKEN', 'figd_<u40>'],
		['grafana', 'GRAFANA_TOKEN', 'glsa_<w32>_<h8>'],
		['digitalocean', 'DO_TOKEN', 'dop_v1_<h64>'],
		['runpod', 'RUNPOD_API_KEY', 'rpa_<U40><l6>'],
		['sourcegraph', 'SRC_ACCESS_TOKEN', 'sgp_<h40>'],
		['perplexity', 'PERPLEXITY_API_KEY', 'pplx-<w48>'],
		['nvidia', 'NVIDIA_API_KEY', 'nvapi-<u64>'],
		['tavily', 'TAVILY_API_KEY', 'tvly-dev-<w32>'],
		['sentry', 'SENTRY_AUTH_TOKEN', 'sntryu_<h64>'],
		['rubygems', 'GEM_HOST_API_KEY', 'rubygems_<h48>'],
		['polar', 'POLAR_ACCESS_TOKEN', 'polar_oat_<w43>'],
		['unkey', 'UNKEY_ROOT_KEY', 'unkey_<w24>'],
		['luma', 'LUMA_API_KEY', `luma-${uuid}-<h36>`],
		['modal', 'MODAL_TOKEN_SECRET', 'as-<w22>'],
		['octopus', 'OCTOPUS_API_KEY', 'API-<U30>'],
		['snyk', 'SNYK_TOKEN', uuid, true],
		['linode', 'LINODE_TOKEN', '<h64>', true],
		['serper', 'SERPER_API_KEY', '<h40>', true],
		['azure search', 'AZURE_SEARCH_ADMIN_KEY', '<w52>', true],
		['okta', 'OKTA_API_TOKEN', '00<u40>', true],
		['twitch', 'TWITCH_CLIENT_SECRET', '<l30>', true],
		['intercom', 'INTERCOM_ACCESS_TOKEN', 'dG9rO<b56>=', true],
		['gemini relay', 'RELAY_SECRET', '<w43>', true],
	]),
];

/** Frames: `@@` is the key, `$$` the name of the variable, `..` that name as code writes it. */
const labelledFrames: readonly string[] = [
	'My .env looks like this, why does the app not start?\n\nPORT=3000\n$$=@@\nLOG_LEVEL=debug\n',
	'export $$="@@"\npython main.py',
	'{"model": "small", "..": "@@", "timeout": 30}',
	'services:\n  worker:\n    environment:\n      $$: @@\n      REGION: eu-1\n',
	'curl -H "Authorization: Bearer @@" https://api.example.com/v1/items',
	"const client = new Client({ ..: '@@', retries: 2 });",
	'client = Client(..="@@")',
	'Please check if the api key @@ is still active.',
	'curl https://api.example.com/v1 -H "x-api-key: @@" -d @body.json',
	'Hi team, the new token is @@ and it expires on Friday.',
];
const bareFrames: readonly string[] = [
	'can you tell me what @@ is for? i found it in an old repo',
	'Traceback: request failed for "@@" (401)',
	'> @@\nIs that one still in use?',
	'print("@@")',
	'I pasted @@ by accident, what now?',
];

const laterLabelledFrames: readonly string[] = [
	'FROM node:22\nENV $$=@@\nCMD ["node", "."]',
	'[client]\n.. = "@@"\nregion = "eu"\n',
	'variable "x" {}\nprovider "p" {\n  .. = "@@"\n}',
	"define('$$', '@@');",
	'os.Setenv("$$", "@@")',
	'requests.get(url, headers={"Authorization": "Token @@"})',
	'stringData:\n  $$: "@@"',
	'GET https://api.example.com/v2/list?api_key=@@&page=2',
	'$ heroku config:set $$=@@ --app shop',
	'Our access token was @@ until yesterday, we rotated it',
	'Mein API-Key lautet @@, was mache ich falsch?',
];
const laterBareFrames: readonly string[] = ['diff\n- @@\n+ removed', 'What does | @@ | mean in this table?', 'see @@.', '<code>@@</code>'];

function codeName(label: string): string {
	const words = label.toLowerCase().split('_').slice(-2);
	return words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('');
}

function rowsOf({ name, half, label, pattern, isBare }: Vendor): KeyRow[] {
	const random = randomOf(name);
	const row = (frame: string, isLabelled: boolean): KeyRow => {
		const key = fill(random, pattern);
		const text = frame
			.replaceAll('$$', label)
			.replaceAll('..', codeName(label))
			.replaceAll('@@', () => key);
		return { half, family: name, isLabelled, text, key };
	};
	const [telling, silent] = half === 'measured' ? [laterLabelledFrames, laterBareFrames] : [labelledFrames, bareFrames];
	const labelled = telling.map((frame) => row(frame, true));
	return isBare ? labelled : [...labelled, ...silent.map((frame) => row(frame, false))];
}

/** Texts that resemble keys: identifiers, digests, placeholders, names. */
const ordinary: readonly (readonly [half: KeyHalf, family: string, patterns: readonly string[]])[] = [
	[
		'developed',
		'commits',
		['git checkout <h40>', 'Fixed in commit <h40>, see the log', 'commit: <h7>', 'Revert "<h40>"', 'parent <h40>\nauthor Ann'],
	],
	['developed', 'uuids', [`request id ${uuid}`, `{"id": "${uuid}", "name": "x"}`, `The session ${uuid} ended`, `user_id=${uuid}`]],
	[
		'developed',
		'integrity',
		['"integrity": "sha512-<b86>=="', 'sha256-<b43>=', 'integrity="sha384-<b64>" crossorigin="anonymous"', '--hash=sha256:<h64>'],
	],
	[
		'developed',
		'images',
		['<img src="data:image/png;base64,iVBORw0KGgo<b120>">', 'url(data:font/woff2;base64,d09GMg<b80>)', 'data:image/gif;base64,R0lGOD<b60>'],
	],
	[
		'developed',
		'placeholders',
		[
			'OPENAI_API_KEY=sk-...',
			'api_key="YOUR_API_KEY"',
			'export TOKEN=<your-token-here>',
			'api_key: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
			'sk-xxxxxxxxxxxxxxxxxxxxxxxx',
			'Authorization: Bearer $ACCESS_TOKEN',
			'API_KEY=REPLACE_ME',
			'Authorization: Bearer YOUR_ACCESS_TOKEN_HERE',
			'ghp_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX',
			'api_key = os.environ["OPENAI_API_KEY"]',
		],
	],
	[
		'developed',
		'traces',
		['traceparent: 00-<h32>-<h16>-01', 'trace_id=<h32> span_id=<h16>', 'X-Request-Id: req_<w24>', 'x-amzn-trace-id: Root=1-<h8>-<h24>'],
	],
	['developed', 'assets', ['main.<h8>.css', 'chunk-<U8>.js', '/static/app-<w8>.js', '.css-<l6> { color: red }', 'styles__button--<w5>']],
	[
		'developed',
		'containers',
		['sha256:<h64>', 'registry.example.com/app@sha256:<h64>', 'pod web-<h10>-<a5>', 'container <h12> exited (137)'],
	],
	[
		'developed',
		'code with labels',
		[
			'const apiKey = process.env.OPENAI_API_KEY;',
			'token = get_token_from_vault(path)',
			'headers["x-api-key"] = settings.api_key',
			'accessToken: await refreshAccessToken(session)',
			'secret_key = generate_random_secret_key(32)',
			'tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")',
			'primary_key: customer_identifier_2024_version',
			'the key is customerAccountNumberAndRegion2024',
			'max_tokens: 4096, token_count: 128000',
		],
	],
	['held-out', 'digests', ['MD5 (file.iso) = <h32>', '<h64>  release.tar.gz', 'etag: "<h32>"', 'ETag: W/"<h40>"', 'checksum: <h64>']],
	[
		'held-out',
		'identifiers',
		[
			'order ord_<w24> shipped',
			'cus_<w14> subscribed to price_<w24>',
			'chatcmpl-<w29>',
			'msg_01<w22>',
			'arn:aws:iam::<d12>:role/app-<w8>',
			'01<U24> is a ULID',
			'video id <w11>',
		],
	],
	[
		'held-out',
		'maps and lock files',
		[
			'//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz<b60>',
			'resolved "https://registry.example.com/x/-/x-1.2.3.tgz#<h40>"',
			'h1:<b43>=',
			'checksum = "<h64>"',
			'narHash = "sha256-<b43>="',
		],
	],
	[
		'held-out',
		'templates',
		[
			'STRIPE_KEY=sk_live_************************',
			'Bearer {{access_token}}',
			'api-key: ${{ secrets.API_KEY }}',
			'token=<TOKEN>',
			'apiKey: "my-super-secret-api-key"',
			'sk-ant-api03-...',
			'AIzaXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX',
			'password: changeme',
			'x-api-key: test',
			'export HF_TOKEN=hf_your_token_here',
			'api_key="insert-your-api-key-here-please"',
			'token: abcdefghijklmnopqrstuvwxyz',
		],
	],
	[
		'held-out',
		'labels and no key',
		[
			'cache key: user-profile-page-version-2024-europe',
			'sort_key=createdAtDescending',
			'the foreign key references_orders_2023_archive',
			'next_page_token is documented in section 4.2.1',
			'partition key 2026-11-25T10:00:00Z',
			'public key fingerprint SHA256:<b43>',
			'idempotency-key: <h8>-<h4>-4<h3>-b<h3>-<h12>',
			'React key={`row-${index}-${item.identifier}`}',
			'The token bucket algorithm refills at 100/s',
			'a key insight is the internationalization2026Effort',
			'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b43> ann@host',
		],
	],
	[
		'held-out',
		'names',
		[
			'sk-learn-pipelines-with-columns',
			'npm_config_registry_timeout_seconds',
			'hf_hub_download_with_retries',
			'fw_update_scheduler_service_name',
			'key-value-store-with-expiry',
			'pa-ssenger-information-system-2',
			'fc-cache-configuration-for-fonts',
			'pat-tern-matching-in-python-3',
			'jina_embeddings_v3_base_model',
			're_match_all_groups_in_text',
		],
	],
	[
		'held-out',
		'addresses',
		[
			'https://docs.example.com/d/1<u43>/edit',
			'https://meet.example.com/<a3>-<a4>-<a3>',
			'https://youtu.example/<u11>',
			'magnet:?xt=urn:btih:<h40>',
			'0x<h40>',
			'bc1q<l38>',
			'ipfs://Qm<w44>',
			'ssh: SHA256:<b43>',
		],
	],
	[
		'measured',
		'logs',
		[
			'[<h8>] GET /items 200 12ms key=items:<d6>',
			'cache hit for key <h32>',
			'lock token held by worker-<d2>',
			'next_token: <b40>',
			'pageToken=<w32>',
			'correlationId=<h32>',
			'span <h16> parent <h16>',
			'build <h12> of branch feature/<a8>',
			'jobId: <w20>',
		],
	],
	[
		'measured',
		'documentation',
		[
			'Set OPENAI_API_KEY to your key, for example sk-abc...xyz',
			'api_key: <paste here>',
			'token: "eyJhbGciOi..."',
			'Authorization: Bearer <JWT>',
			'client_secret=********************',
			'API key: [REDACTED]',
			'export AWS_SECRET_ACCESS_KEY=****',
			'apiKey: string; // at least 20 characters',
			'x-api-key: ${API_KEY_FROM_ENVIRONMENT}',
			'secret: "{{ vault_secret_2024_production }}"',
			'token = "dummy-token-for-tests-only"',
			'The API key 00000000000000000000000000000000 is a placeholder',
		],
	],
	[
		'measured',
		'code',
		[
			'const tokenizerConfigForModelVersion2 = load();',
			'if (token.type === TokenType.IDENTIFIER_OR_KEYWORD) return;',
			'key={item.id + "-" + index}',
			'secretManager.getSecretValue({ SecretId: "prod/database/main" })',
			'private readonly accessTokenExpiresInSeconds = 3600;',
			'apiKeyAuthenticationMiddlewareV2(request)',
			'public static final String PRIMARY_KEY_COLUMN_NAME = "customer_id_v2";',
			'token_endpoint: https://login.example.com/oauth2/v2.0/token',
			'setToken(getTokenFromLocalStorageOrThrow1())',
		],
	],
	[
		'measured',
		'files',
		[
			'-rw-r--r-- 1 root root 4096 <h8>-<h4>.bin',
			'/nix/store/<l32>-openssl-3.0.13',
			'models--org--name/snapshots/<h40>/config.json',
			'~/.cache/pip/http/<h2>/<h2>/<h56>',
			'layer <h12>: Pull complete',
			'public/build/assets/index-<w8>.js',
			'SRR<d8>.fastq.gz',
		],
	],
	[
		'measured',
		'records',
		[
			'invoice in_<w24>',
			'file-<w24> uploaded',
			'resp_<h48>',
			'asst_<w24> ran run_<w24>',
			'call_<w24>',
			'did:key:z6Mk<w44>',
			'tx 0x<h64>',
			'DOI 10.1000/<a4>.<d6>',
			'VIN 1HGCM82633A<d6>',
		],
	],
];

const rowsPerOrdinaryPattern = 6;

function ordinaryRows(): KeyRow[] {
	return ordinary.flatMap(([half, family, patterns]) => {
		const random = randomOf(family);
		const texts = patterns.flatMap((pattern) => Array.from({ length: rowsPerOrdinaryPattern }, () => fill(random, pattern)));
		return [...new Set(texts)].map((text) => ({ half, family, isLabelled: false, text, key: '' }));
	});
}

export const keyRows: readonly KeyRow[] = [...vendors.flatMap(rowsOf), ...ordinaryRows()];
export const vendorCount = vendors.length;

const detector = createPiiDetector(new Set(piiKinds));

/** True if a key is covered from its first to its last character; for ordinary text, if anything in it is taken for a key. */
export function isKeyFound({ text, key }: KeyRow): boolean {
	const found = new TextScan([detector], false).end(text).filter(({ category }) => category === 'api_key' || category === 'aws_key');
	const start = text.indexOf(key);
	return found.some((span) => key === '' || (span.start <= start && span.end >= start + key.length));
}

export interface KeyMeasurements {
	readonly half: KeyHalf;
	readonly keys: number;
	readonly found: number;
	readonly labelled: number;
	readonly foundLabelled: number;
	readonly ordinary: number;
	readonly flagged: number;
}

export function measureKeys(half: KeyHalf): KeyMeasurements {
	const rows = keyRows.filter((row) => row.half === half);
	const keys = rows.filter(({ key }) => key !== '');
	const labelled = keys.filter(({ isLabelled }) => isLabelled);
	const plain = rows.filter(({ key }) => key === '');
	const count = (some: readonly KeyRow[]): number => some.filter(isKeyFound).length;
	return {
		half,
		keys: keys.length,
		found: count(keys),
		labelled: labelled.length,
		foundLabelled: count(labelled),
		ordinary: plain.length,
		flagged: count(plain),
	};
}
