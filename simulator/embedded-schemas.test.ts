/** Tests that every wire dialect follows a JSON schema within a prompt, which clients write for models without structured outputs. */
import { expect, test } from 'vitest';
import { askSimulator } from '../test/support/ask-simulator.ts';
import { schemaErrors } from '../test/support/json-schema-validator.ts';

interface Content {
	readonly choices: readonly { readonly message: { readonly content: string } }[];
	readonly content: readonly { readonly text: string }[];
	readonly candidates: readonly { readonly content: { readonly parts: readonly { readonly text: string }[] } }[];
}

async function ask(path: string, body: object): Promise<string> {
	const { choices, content, candidates } = JSON.parse(await askSimulator(path, body)) as Partial<Content>;
	return choices?.[0]?.message.content ?? content?.[0]?.text ?? candidates?.[0]?.content.parts.map(({ text }) => text).join('') ?? '';
}

const schema = {
	$defs: { tag: { enum: ['red', 'blue'] } },
	properties: {
		name: { type: 'string', minLength: 2 },
		age: { type: 'integer', minimum: 18, maximum: 20 },
		tags: { items: { $ref: '#/$defs/tag' } },
	},
	required: ['name', 'age', 'tags'],
	additionalProperties: false,
	type: 'object',
};
const written = JSON.stringify(schema, null, 2);
const question = 'Extract the person: Bob {not JSON} is "30".';

/** Prompts in the wording of these clients. */
const prompts: Readonly<Record<string, { readonly system: string; readonly user: string }>> = {
	'AI SDK': {
		system: `JSON schema:\n${JSON.stringify(schema)}\nYou MUST answer with a JSON object that matches the JSON schema above.`,
		user: question,
	},
	instructor: {
		system: `Understand the content and provide the parsed objects in json that match the following json_schema:\n\n${written}\n\nMake sure to return an instance of the JSON, not the schema itself`,
		user: question,
	},
	LangChain: {
		system: 'You extract data.',
		user: `${question}\nThe output should be formatted as a JSON instance that conforms to the JSON schema below.\n\nAs an example, for the schema {"properties": {"foo": {"type": "array", "items": {"type": "string"}}}, "required": ["foo"]} the object {"foo": ["bar", "baz"]} is a well-formatted instance of the schema.\n\nHere is the output schema:\n\`\`\`\n${written}\n\`\`\``,
	},
};

interface ModerationContext {
	readonly system: string;
	readonly user: string;
	readonly demandsJson?: boolean;
	readonly tools?: boolean;
}

const tool = { name: 'look_up', parameters: { type: 'object', properties: {} } };

const wires: Readonly<Record<string, (requested: ModerationContext) => Promise<string>>> = {
	OpenAI: ({ system, user, demandsJson, tools }) =>
		ask('/openai/v1/chat/completions', {
			model: 'gpt-4o',
			messages: [
				{ role: 'system', content: system },
				{ role: 'user', content: [{ type: 'text', text: user }] },
			],
			...(demandsJson === true ? { response_format: { type: 'json_object' } } : {}),
			...(tools === true ? { tools: [{ type: 'function', function: tool }] } : {}),
		}),
	Anthropic: ({ system, user, tools }) =>
		ask('/anthropic/v1/messages', {
			model: 'claude-sonnet-4-5',
			max_tokens: 1000,
			system,
			messages: [{ role: 'user', content: user }],
			...(tools === true ? { tools: [{ name: tool.name, input_schema: tool.parameters }] } : {}),
		}),
	Gemini: ({ system, user, demandsJson, tools }) =>
		ask('/gemini/v1beta/models/gemini-2.5-flash:generateContent', {
			systemInstruction: { parts: [{ text: system }] },
			contents: [{ role: 'user', parts: [{ text: user }] }],
			...(demandsJson === true ? { generationConfig: { responseMimeType: 'application/json' } } : {}),
			...(tools === true ? { tools: [{ functionDeclarations: [{ name: tool.name, description: 'Looks up.' }] }] } : {}),
		}),
};

const cases = Object.keys(wires).flatMap((wire) =>
	Object.keys(prompts).flatMap((client) => [false, true].map((demandsJson) => ({ wire, client, demandsJson }))),
);

test.each(cases)('$wire follows the schema of $client, JSON mode: $demandsJson', async ({ wire, client, demandsJson }) => {
	const prompt = prompts[client];
	if (prompt === undefined) throw new Error(client);
	const text = (await wires[wire]?.({ ...prompt, demandsJson })) ?? '';
	expect(schemaErrors(schema, JSON.parse(text))).toEqual([]);
});

test.each(Object.keys(wires))('%s: a prompt that only holds a schema is a question, and so is one with tools', async (wire) => {
	const response = wires[wire] ?? (() => Promise.resolve(''));
	expect(await response({ system: 'Be brief.', user: `What does this do? ${written}` })).toContain('You wrote: ');
	expect(await response({ system: `${prompts['AI SDK']?.system}`, user: question, tools: true })).toContain('You wrote: ');
});

test('JSON mode without a usable schema gets JSON, also for a prompt full of braces', async () => {
	const geoJson = '{"type":"Feature","properties":{"name":"x"}}';
	for (const user of [`JSON please: ${geoJson}`, `JSON ${'{"properties": '.repeat(15_000)}`, '{"properties": {"a": 1}} as JSON']) {
		expect(JSON.parse((await wires['OpenAI']?.({ system: '', user, demandsJson: true })) ?? '')).toHaveProperty('answer');
	}
});

test('a schema that nothing can follow gets JSON', async () => {
	const odd = {
		type: 'object',
		properties: { a: { type: 'string', pattern: '(' }, b: { $ref: '#/nowhere' }, c: { enum: [] }, d: { type: 7 } },
		required: 3,
	};
	const text = await wires['OpenAI']?.({ system: `Answer in JSON by this schema: ${JSON.stringify(odd)}`, user: 'Go', demandsJson: true });
	expect(JSON.parse(text ?? '')).toBeTypeOf('object');
});
