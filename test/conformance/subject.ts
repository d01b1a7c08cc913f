/**
 * Subject of the conformance tests: a product that they start, or a deployment named by the environment (`npm run conformance -- --base-url
 * ...` sets it).
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { agent, fetchAccessToken, operator, type Product, type ProductOverrides, startProduct } from '../support/product.ts';
import { SimulatorControl } from '../support/simulator-control.ts';

export interface Subject {
	readonly baseUrl: string;
	readonly tokenEndpoint: string;
	/** Scope prefix, `{scope_base}` of the specification. */
	readonly scopeBase: string;
	readonly client: { id: string; secret: string };
	/** Client that may request the admin scope. */
	readonly adminClient: { id: string; secret: string };
	readonly chatModel: string;
	readonly messagesModel: string;
	/** Product that the tests started; absent for another deployment. */
	readonly product: Product | undefined;
	/** Simulator behind the started product. @throws Error for another deployment. */
	readonly simulator: SimulatorControl;
	/** Access token of the client, requested once: it is valid beyond the tests of a file, and costs more than an inference request. */
	accessToken(): Promise<string>;
}

export const isOwnProduct = process.env['CONFORMANCE_BASE_URL'] === undefined;

/** Features that only a product started by the tests has. */
export type OwnNeed = 'our simulator' | 'a configuration of its own';

/** Declares tests that another deployment cannot run: there they are reported as skipped, with the reason in the title. */
export function describeOwn(title: string, need: OwnNeed, tests: () => void): void {
	describe.runIf(isOwnProduct)(`${title}${reasonToSkip(need)}`, () => {
		tests();
	});
}

/** Like `describeOwn`, for one test. */
export function itOwn(title: string, need: OwnNeed, expectAll: () => Promise<void>): void {
	it.runIf(isOwnProduct)(`${title}${reasonToSkip(need)}`, async () => expectAll());
}

function reasonToSkip(need: OwnNeed): string {
	return isOwnProduct ? '' : ` (skipped: needs ${need})`;
}

/** Starts the subject before the tests of a file, or of a `describe`, and stops it after them. */
export function useSubject(overrides: ProductOverrides = {}): { readonly current: Subject } {
	let subject: Subject | undefined;
	beforeAll(async () => {
		subject = isOwnProduct ? ownSubject(await startProduct(overrides)) : externalSubject();
	}, 30_000);
	afterAll(async () => {
		await subject?.product?.stop();
	});
	return {
		get current() {
			if (subject === undefined) throw new Error('the subject has not started');
			return subject;
		},
	};
}

function ownSubject(product: Product): Subject {
	return {
		baseUrl: product.gatewayUrl,
		tokenEndpoint: product.tokenEndpoint,
		scopeBase: 'tollgate',
		client: agent,
		adminClient: operator,
		chatModel: 'gpt-4o-mini',
		messagesModel: 'claude-haiku-4-5',
		product,
		simulator: new SimulatorControl(product.simulatorUrl),
		accessToken: requestedOnce(() => product.accessToken()),
	};
}

function externalSubject(): Subject {
	const read = (name: string): string => {
		const value = process.env[name];
		if (value === undefined) throw new Error(`${name} is not set`);
		return value;
	};
	const tokenEndpoint = read('CONFORMANCE_TOKEN_ENDPOINT');
	const client = { id: read('CONFORMANCE_CLIENT_ID'), secret: read('CONFORMANCE_CLIENT_SECRET') };
	return {
		baseUrl: read('CONFORMANCE_BASE_URL').replace(/\/$/, ''),
		tokenEndpoint,
		scopeBase: process.env['CONFORMANCE_SCOPE_BASE'] ?? 'tollgate',
		client,
		adminClient: {
			id: process.env['CONFORMANCE_ADMIN_CLIENT_ID'] ?? client.id,
			secret: process.env['CONFORMANCE_ADMIN_CLIENT_SECRET'] ?? client.secret,
		},
		chatModel: process.env['CONFORMANCE_CHAT_MODEL'] ?? 'gpt-4o-mini',
		messagesModel: process.env['CONFORMANCE_MESSAGES_MODEL'] ?? 'claude-haiku-4-5',
		product: undefined,
		get simulator(): never {
			throw new Error('the deployment under test has no simulator of ours');
		},
		accessToken: requestedOnce(() => fetchAccessToken(tokenEndpoint, client)),
	};
}

function requestedOnce(ask: () => Promise<string>): () => Promise<string> {
	let pending: Promise<string> | undefined;
	return () => (pending ??= ask());
}

/** Counts requests that the simulated providers have served; always 0 for another deployment, whose providers cannot be queried. */
export async function requestsServed(subject: Subject): Promise<number> {
	return isOwnProduct ? subject.simulator.requestsServed() : 0;
}

/** Sends a request with JSON body and token; `headers` and `body` replace the defaults, a null header omits one. */
export async function send(
	subject: Subject,
	path: string,
	options: { method?: string; headers?: Record<string, string | null>; body?: unknown; accessToken?: string } = {},
): Promise<Response> {
	const headers = new Headers({ 'content-type': 'application/json' });
	headers.set('authorization', `Bearer ${options.accessToken ?? (await subject.accessToken())}`);
	for (const [name, value] of Object.entries(options.headers ?? {})) {
		if (value === null) headers.delete(name);
		else headers.set(name, value);
	}
	const method = options.method ?? 'POST';
	const body =
		options.body === undefined || typeof options.body === 'string' || options.body instanceof Uint8Array
			? options.body
			: JSON.stringify(options.body);
	return fetch(`${subject.baseUrl}${path}`, {
		method,
		headers,
		redirect: 'manual',
		...(body !== undefined && method !== 'GET' && { body: body as string | Uint8Array<ArrayBuffer> }),
	});
}

export function chatBody(subject: Subject, extra: Record<string, unknown> = {}): Record<string, unknown> {
	return { model: subject.chatModel, messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: 50, ...extra };
}

export function messagesBody(subject: Subject, extra: Record<string, unknown> = {}): Record<string, unknown> {
	return { model: subject.messagesModel, max_tokens: 50, messages: [{ role: 'user', content: 'Say hello.' }], ...extra };
}
