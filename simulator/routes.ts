/** Maps a path to its wire dialect and action. */
import { anthropicWire } from './wires/anthropic/anthropic.ts';
import { azureWire } from './wires/azure/azure.ts';
import { geminiWire } from './wires/gemini/gemini.ts';
import { geminiOpenAiWire } from './wires/gemini/gemini-openai.ts';
import { openAiWire } from './wires/openai/openai.ts';
import type { Wire, WireName, WireTarget } from './wires/wire.ts';

export interface Route {
	readonly wire: Wire;
	/** `models`: all of them, or the named one; `unknown`: the vendor has no such path. */
	readonly action: WireTarget['action'] | 'models' | 'unknown';
	readonly model?: string;
	readonly isStream?: boolean;
}

/** @returns undefined for a path outside all vendors' prefixes. */
export function findRoute(path: string): Route | undefined {
	const [, prefix = '', ...rest] = path.split('/');
	const tail = rest.join('/');
	switch (prefix) {
		case 'openai':
			return exactRoute(openAiWire, tail, 'v1/chat/completions', 'v1/models');
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
	if (tail === calls) return { wire, action: 'generate' };
	if (tail === models) return { wire, action: 'models' };
	return tail.startsWith(`${models}/`)
		? { wire, action: 'models', model: decode(tail.slice(models.length + 1)) }
		: { wire, action: 'unknown' };
}

function geminiRoute(tail: string): Route {
	if (tail.startsWith('v1beta/openai/')) {
		return exactRoute(geminiOpenAiWire, tail, 'v1beta/openai/chat/completions', 'v1beta/openai/models');
	}
	const list = /^v1(?:beta)?\/models(?:\/([^/:]+))?$/.exec(tail);
	if (list !== null) return { wire: geminiWire, action: 'models', ...(list[1] !== undefined && { model: decode(list[1]) }) };
	const match = /^v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/.exec(tail);
	if (match === null) return { wire: geminiWire, action: 'unknown' };
	const [, model = '', method] = match;
	return {
		wire: geminiWire,
		action: method === 'countTokens' ? 'count' : 'generate',
		model: decode(model),
		isStream: method === 'streamGenerateContent',
	};
}

function azureRoute(tail: string): Route {
	const match = /^openai\/deployments\/([^/]+)\/chat\/completions$/.exec(tail);
	if (match?.[1] !== undefined) return { wire: azureWire, action: 'generate', model: decode(match[1]) };
	return exactRoute(azureWire, tail, 'openai/v1/chat/completions', 'openai/v1/models');
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
