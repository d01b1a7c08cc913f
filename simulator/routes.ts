/** Maps a path to its wire dialect and action. */
import { anthropicWire } from './wires/anthropic/anthropic.ts';
import { azureWire } from './wires/azure/azure.ts';
import { geminiWire } from './wires/gemini/gemini.ts';
import { geminiOpenAiWire } from './wires/gemini/gemini-openai.ts';
import { openAiWire } from './wires/openai/openai.ts';
import type { Wire, WireAction, WireName } from './wires/wire.ts';

export interface Route {
	readonly wire: Wire;
	/** `models`: all of them, or the named one; `stored`: a response by its id; `unknown`: the vendor has no such path. */
	readonly action: WireAction | 'models' | 'stored' | 'unknown';
	readonly model?: string;
	readonly isStream?: boolean;
	readonly isVersioned?: boolean;
	/** Stored response of action `stored`. */
	readonly stored?: { readonly id: string; readonly part: 'response' | 'cancel' | 'input_items' };
}

/** @returns undefined for a path outside all vendors' prefixes. */
export function findRoute(path: string): Route | undefined {
	const [, prefix = '', ...rest] = path.split('/');
	const tail = rest.join('/');
	switch (prefix) {
		case 'openai':
			return openAiRoute(openAiWire, tail, 'v1/');
		case 'anthropic':
			if (tail === 'v1/messages/count_tokens') return { wire: anthropicWire, action: 'count' };
			return exactRoute(anthropicWire, tail, 'v1/messages', 'v1/models');
		case 'gemini':
			return geminiRoute(tail);
		case 'azure':
			return azureRoute(tail);
		default:
			return undefined;
	}
}

function exactRoute(wire: Wire, tail: string, calls: string, models: string): Route {
	return tail === calls ? { wire, action: 'generate' } : modelsRoute(wire, tail, models);
}

function modelsRoute(wire: Wire, tail: string, models: string): Route {
	if (tail === models) return { wire, action: 'models' };
	return tail.startsWith(`${models}/`)
		? { wire, action: 'models', model: decode(tail.slice(models.length + 1)) }
		: { wire, action: 'unknown' };
}

/** Paths below a base path, except those of stored responses. */
const openAiActions: Readonly<Record<string, WireAction>> = {
	'chat/completions': 'generate',
	completions: 'completions',
	embeddings: 'embeddings',
	responses: 'responses',
	'responses/compact': 'compact',
	'responses/input_tokens': 'count',
};

function openAiRoute(wire: Wire, tail: string, base: string): Route {
	if (!tail.startsWith(base)) return { wire, action: 'unknown' };
	const path = tail.slice(base.length);
	const action = openAiActions[path];
	if (action !== undefined) return { wire, action };
	return storedRoute(wire, path) ?? modelsRoute(wire, tail, `${base}models`);
}

function storedRoute(wire: Wire, path: string): Route | undefined {
	const match = /^responses\/([^/]+)(?:\/(cancel|input_items))?$/.exec(path);
	if (match?.[1] === undefined) return undefined;
	const part = match[2] === 'cancel' || match[2] === 'input_items' ? match[2] : 'response';
	return { wire, action: 'stored', stored: { id: decode(match[1]), part } };
}

function geminiRoute(tail: string): Route {
	if (tail === 'v1beta/openai/embeddings') return { wire: geminiOpenAiWire, action: 'embeddings' };
	if (tail.startsWith('v1beta/openai/')) {
		return exactRoute(geminiOpenAiWire, tail, 'v1beta/openai/chat/completions', 'v1beta/openai/models');
	}
	const list = /^v1(?:beta)?\/models(?:\/([^/:]+))?$/.exec(tail);
	if (list !== null) return { wire: geminiWire, action: 'models', ...(list[1] !== undefined && { model: decode(list[1]) }) };
	const match = /^v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/.exec(
		tail,
	);
	if (match === null) return { wire: geminiWire, action: 'unknown' };
	const [, model = '', method = ''] = match;
	return {
		wire: geminiWire,
		action: geminiActions[method] ?? 'generate',
		model: decode(model),
		isStream: method === 'streamGenerateContent',
	};
}

const geminiActions: Readonly<Record<string, WireAction>> = {
	countTokens: 'count',
	embedContent: 'embeddings',
	batchEmbedContents: 'batch-embeddings',
};

const deploymentActions: Readonly<Record<string, WireAction>> = {
	'chat/completions': 'generate',
	completions: 'completions',
	embeddings: 'embeddings',
};

function azureRoute(tail: string): Route {
	const match = /^openai\/deployments\/([^/]+)\/(.*)$/.exec(tail);
	const action = deploymentActions[match?.[2] ?? ''];
	if (match?.[1] !== undefined && action !== undefined) {
		return { wire: azureWire, action, model: decode(match[1]), isVersioned: true };
	}
	if (/^openai\/responses(?:\/|$)/.test(tail)) return { ...openAiRoute(azureWire, tail, 'openai/'), isVersioned: true };
	return openAiRoute(azureWire, tail, 'openai/v1/');
}

function decode(segment: string): string {
	try {
		return decodeURIComponent(segment);
	} catch {
		return segment;
	}
}

const wires: Readonly<Record<WireName, Wire>> = {
	openai: openAiWire,
	anthropic: anthropicWire,
	gemini: geminiWire,
	'gemini-openai': geminiOpenAiWire,
	azure: azureWire,
};

export function wireNamed(name: WireName): Wire {
	return wires[name];
}
