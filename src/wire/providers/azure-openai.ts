import { Rejection } from '../../core/rejection.ts';
import { type Protocol, withQuery } from './protocol.ts';

/** Azure OpenAI. The path of the classic URL form, which has a version, names the deployment; in the newer form the body does. */
export const azureOpenai: Protocol = {
	wire: 'chat',
	locate({ pathPrefix, apiVersion }, model, query) {
		const base = `${pathPrefix.replace(/\/openai(\/v1)?$/, '')}/openai`;
		if (apiVersion === null) return withQuery(`${base}/v1/chat/completions`, query);
		const rest = query.split('&').filter((parameter) => parameter !== '' && !parameter.startsWith('api-version='));
		const parameters = [`api-version=${encodeURIComponent(apiVersion)}`, ...rest];
		return `${base}/deployments/${deploymentSegment(model)}/chat/completions?${parameters.join('&')}`;
	},
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
