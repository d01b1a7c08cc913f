/** Content of a message is never a reason to block, in either format. */
import { expect } from 'vitest';
import { chatFormat, messagesFormat } from '../conformance/formats.ts';
import { type Subject, send } from '../conformance/subject.ts';
import { harmlessPrompts } from './harmless-prompts.ts';

const atOnce = 8;

export async function expectNoPromptBlocked(subject: Subject, count: number): Promise<void> {
	const accessToken = await subject.accessToken();
	const waiting = harmlessPrompts(count, 23);
	const responses = new Map<string, number>();
	let bytes = 0;
	let index = 0;
	const worker = async (): Promise<void> => {
		for (const prompt of waiting) {
			const format = index++ % 2 === 0 ? chatFormat : messagesFormat;
			const body = JSON.stringify(format.question(`${format.family}-sim-text`, {}, prompt));
			bytes += body.length;
			const response = await send(subject, format.path, { body, accessToken });
			await response.arrayBuffer();
			const key = `${response.status} ${response.headers.get('x-amzn-waf-action') ?? ''}`.trim();
			responses.set(key, (responses.get(key) ?? 0) + 1);
		}
	};
	await Promise.all(Array.from({ length: atOnce }, worker));
	expect(Object.fromEntries(responses)).toEqual({ 200: count });
	expect(bytes / count).toBeGreaterThan(4096);
}
