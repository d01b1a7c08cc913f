/** Bodies of the control requests. Unknown fields are rejected, because a typo in a fault must not make a test pass. */
import { z } from 'zod';
import { moderationWireNames } from '../wires/moderation-wire.ts';
import { wireNames } from '../wires/wire.ts';

const match = {
	dialect: z.enum([...wireNames, ...moderationWireNames]).optional(),
	/** Suffix of the key, or the whole key. */
	key: z.string().min(1).optional(),
	model: z.string().min(1).optional(),
	/** End of the path, or the whole path. */
	path: z.string().min(1).optional(),
};

export const faultBody = z.strictObject({
	...match,
	fault: z.string().min(1),
	rate: z.number().min(0).max(1).default(1),
	count: z.int().min(1).nullable().default(null),
	seed: z.int().default(1),
});

export const rateLimitBody = z
	.strictObject({
		...match,
		requests: z.int().min(0).optional(),
		tokens: z.int().min(0).optional(),
		window_seconds: z.number().min(0.1).max(86_400).default(60),
	})
	.refine(({ requests, tokens }) => requests !== undefined || tokens !== undefined, 'requests, tokens or both');

export const outageBody = z.strictObject({ seconds: z.number().min(0).max(600) });

export const settingsBody = z.strictObject({
	interval_ms: z.number().min(0).max(60_000).optional(),
	first_byte_ms: z.number().min(0).max(600_000).optional(),
	record_bodies: z.boolean().optional(),
	retry_after_every: z.int().min(0).optional(),
});

const cutBytes = z.tuple([z.int().min(1), z.int().min(1)]).refine(([min, max]) => min <= max, 'the first size must not exceed the second');

export const replayBody = z
	.strictObject({
		...match,
		count: z.int().min(1).max(100_000).default(1),
		status: z.int().min(200).max(599).default(200),
		headers: z.record(z.string(), z.string()).default({}),
		body: z.string().optional(),
		body_base64: z.base64().optional(),
		sse: z.string().optional(),
		json: z.unknown().optional(),
		split: z.union([z.enum(['none', 'events']), z.strictObject({ bytes: cutBytes, seed: z.int().default(1) })]).default('none'),
		interval_ms: z.number().min(0).max(60_000).default(0),
	})
	.refine(
		(body) => [body.body, body.body_base64, body.sse, body.json].filter((source) => source !== undefined).length === 1,
		'exactly one of body, body_base64, sse and json',
	);

export const scriptBody = z
	.strictObject({
		...match,
		count: z.int().min(1).max(100_000).default(1),
		text: z.string().optional(),
		/** Pieces of the text, one for each event. */
		pieces: z.array(z.string().min(1)).optional(),
		thinking: z.string().default(''),
		/** A text as `input` calls a custom tool. */
		calls: z
			.array(
				z.strictObject({
					name: z.string().min(1),
					namespace: z.string().min(1).optional(),
					input: z.union([z.record(z.string(), z.unknown()), z.string()]).default({}),
				}),
			)
			.default([]),
	})
	.refine((body) => body.text === undefined || body.pieces === undefined, 'either text or pieces');
