import { chat } from '../dialects/chat/chat.ts';
import { messages } from '../dialects/messages/messages.ts';
import { tokenCounting } from '../dialects/messages/token-counting.ts';
import type { Endpoint } from './endpoint.ts';

export const endpoints: readonly Endpoint[] = [
	{ path: '/v1/chat/completions', dialect: chat, kind: 'inference' },
	{ path: '/v1/messages', dialect: messages, kind: 'inference' },
	{ path: '/v1/messages/count_tokens', dialect: tokenCounting, kind: 'token_count' },
];

export const inferenceEndpoints: readonly Endpoint[] = endpoints.filter(({ kind }) => kind === 'inference');
