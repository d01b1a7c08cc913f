import { Rejection } from '../../core/rejection.ts';
import { type Locate, openaiRateLimits, type Protocol, withQuery } from './protocol.ts';

/** Returns the URL of an operation. The path of the classic form, which has a version, names the deployment; in the newer form the body does. */
function operation(name: string): Locate {
	return ({ pathPrefix, apiVersion }, model, query) => {
		const base = openaiPath(pathPrefix);
		if (apiVersion === null) return withQuery(`${base}/v1/${name}`, query);
		return `${base}/deployments/${deploymentSegment(model)}/${name}?${withVersion(query, apiVersion)}`;
	};
}

/** The body names the deployment in both forms. */
const responses: Locate = ({ pathPrefix, apiVersion }, _model, query) => {
	const base = openaiPath(pathPrefix);
	return apiVersion === null ? withQuery(`${base}/v1/responses`, query) : `${base}/responses?${withVersion(query, apiVersion)}`;
};

function openaiPath(pathPrefix: string): string {
	return `${pathPrefix.replace(/\/openai(\/v1)?$/, '')}/openai`;
}

function withVersion(query: string, apiVersion: string): string {
	const rest = query.split('&').filter((parameter) => parameter !== '' && !parameter.startsWith('api-version='));
	return [`api-version=${encodeURIComponent(apiVersion)}`, ...rest].join('&');
}

/** Azure OpenAI. */
export const azureOpenai: Protocol = {
	conversation: 'chat',
	apis: {
		chat: operation('chat/completions'),
		responses,
		embeddings: operation('embeddings'),
		completions: operation('completions'),
	},
	authenticate: (apiKey) => ({ 'api-key': apiKey }),
	defaultHeaders: {},
	forwards: [],
	rateLimits: openaiRateLimits,
	spendStops: ['insufficient_quota'],
};

/** The name becomes part of a path, so only valid names of Azure deployments pass. */
function deploymentSegment(model: string): string {
	if (!/^[\w.-]{1,64}$/.test(model) || /^\.+$/.test(model)) {
		throw new Rejection('field_invalid', {
			param: 'model',
			message: '`model` must be the name of a deployment: at most 64 letters, digits, `-`, `_` and `.`',
		});
	}
	return model;
}
