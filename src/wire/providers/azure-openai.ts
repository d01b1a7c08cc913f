import { Rejection } from '../../core/rejection.ts';
import { type Locate, type Protocol, withQuery } from './protocol.ts';

/** Returns the URL of an operation. The path of the classic form, which has a version, names the deployment; in the newer form the body does. */
function operation(name: string): Locate {
	return ({ pathPrefix, apiVersion }, model, query) => {
		const base = `${pathPrefix.replace(/\/openai(\/v1)?$/, '')}/openai`;
		if (apiVersion === null) return withQuery(`${base}/v1/${name}`, query);
		const rest = query.split('&').filter((parameter) => parameter !== '' && !parameter.startsWith('api-version='));
		const parameters = [`api-version=${encodeURIComponent(apiVersion)}`, ...rest];
		return `${base}/deployments/${deploymentSegment(model)}/${name}?${parameters.join('&')}`;
	};
}

/** Azure OpenAI. */
export const azureOpenai: Protocol = {
	conversation: 'chat',
	apis: { chat: operation('chat/completions') },
	authenticate: (apiKey) => ({ 'api-key': apiKey }),
	defaultHeaders: {},
	forwards: [],
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
