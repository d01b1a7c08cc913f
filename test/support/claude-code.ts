/** Requests with the header fields, the body fields and the structure of those of Claude Code; the texts are written for the tests. */

export const claudeCodePath = '/v1/messages?beta=true';

/** Header fields besides the credential. The last two stand for those of later releases. */
export const claudeCodeHeaders: Readonly<Record<string, string>> = {
	accept: 'application/json',
	'anthropic-beta':
		'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,mid-conversation-tool-changes-2026-07-01,' +
		'advanced-tool-use-2025-11-20,effort-2025-11-24, beta-of-a-later-release-2027-01-01',
	'anthropic-dangerous-direct-browser-access': 'true',
	'anthropic-version': '2023-06-01',
	'user-agent': 'claude-cli/2.1.332 (external, sdk-cli)',
	'x-app': 'cli',
	'x-claude-code-session-id': '9dce41d5-45b0-473b-852d-74ae16d638a9',
	'x-claude-code-agent-id': 'a1b2c3',
	'x-claude-code-parent-agent-id': 'main',
	'x-stainless-lang': 'js',
	'x-stainless-retry-count': '0',
	'anthropic-field-of-a-later-release': 'Some value; q=1',
	'x-claude-code-field-of-a-later-release': 'private',
};

export const attribution = 'x-anthropic-billing-header: cc_version=2.1.332.1c9; cc_entrypoint=sdk-cli;';

const ephemeral = { cache_control: { type: 'ephemeral' } };

const pathSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false };

export const claudeCodeTools: readonly object[] = [
	{ name: 'Bash', description: 'Runs a command.', input_schema: { type: 'object', properties: { command: { type: 'string' } } } },
	{ name: 'Read', description: 'Reads a file.', input_schema: pathSchema, eager_input_streaming: true },
	{ name: 'ToolSearch', description: 'Finds tools.', input_schema: { type: 'object', properties: { query: { type: 'string' } } } },
	{ name: 'mcp__maps__find_place', description: 'Finds a place.', input_schema: pathSchema, defer_loading: true, strict: true },
];

/** Body of a main request. The prompt has what firewalls take for attacks: markup, SQL and shell commands. */
export function claudeCodeBody(model: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
	return {
		model,
		messages: [
			{
				role: 'user',
				content: [
					{ type: 'text', text: '<system-reminder>\nKeep commits small.\n</system-reminder>' },
					{ type: 'text', text: 'Why does <script>alert(1)</script> run? DROP TABLE users; -- and $(rm -rf /tmp/x)', ...ephemeral },
				],
			},
			{ role: 'system', content: [{ type: 'text', text: '# Environment\nWorking directory: /project', ...ephemeral }] },
		],
		system: [
			{ type: 'text', text: attribution },
			{ type: 'text', text: 'You are an agent.', ...ephemeral },
			{ type: 'text', text: 'Use the tools.', cache_control: { type: 'ephemeral', ttl: '1h' } },
		],
		tools: claudeCodeTools,
		metadata: { user_id: JSON.stringify({ device_id: 'd'.repeat(64), account_uuid: '', session_id: 's'.repeat(36) }) },
		max_tokens: 32_000,
		thinking: { type: 'adaptive', display: 'omitted' },
		context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
		output_config: { effort: 'medium' },
		stream: true,
		...more,
	};
}
