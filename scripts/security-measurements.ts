/** Measures what the firewall catches and what it blocks by mistake, and writes docs/reference/security-measurements.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crsCases, runCrsCases } from '../test/support/crs-suite.ts';
import {
	makeMeasuredRules,
	measureBodiesAsArguments,
	measureHarmless,
	measureVariants,
} from '../test/support/firewall/measure-variants.ts';
import { measureSecondReader, measureSecondReaderAttacks } from '../test/support/firewall/second-reader.ts';
import { harmlessPrompts } from '../test/support/harmless-prompts.ts';
import { startProduct } from '../test/support/product.ts';
import { renderSecurityMeasurements } from '../test/support/security-measurements-page.ts';

const prompts = 1000;
const product = await startProduct();
try {
	const crs = await runCrsCases(Number(new URL(product.gatewayUrl).port), crsCases);
	const blocked = await countBlocked();
	const file = join(import.meta.dirname, '../docs/reference/security-measurements.md');
	const rules = makeMeasuredRules();
	writeFileSync(
		file,
		renderSecurityMeasurements({
			crs,
			variants: measureVariants(rules),
			harmless: measureHarmless(rules),
			secondReader: { harmless: measureSecondReader(rules), attacks: measureSecondReaderAttacks(rules) },
			bodies: measureBodiesAsArguments(rules),
			prompts: { sent: prompts, blocked },
		}),
	);
} finally {
	await product.stop();
}

async function countBlocked(): Promise<number> {
	const accessToken = await product.accessToken();
	const headers = { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` };
	let blocked = 0;
	let index = 0;
	for (const content of harmlessPrompts(prompts, 7)) {
		const [path, model] = index++ % 2 === 0 ? ['/v1/chat/completions', 'gpt-sim-text'] : ['/v1/messages', 'claude-sim-text'];
		const body = JSON.stringify({ model, max_tokens: 50, messages: [{ role: 'user', content }] });
		const response = await fetch(`${product.gatewayUrl}${path}`, { method: 'POST', headers, body });
		await response.arrayBuffer();
		if (response.headers.has('x-amzn-waf-action')) blocked++;
		else if (response.status !== 200) throw new Error(`a prompt returned ${response.status}`);
	}
	return blocked;
}
