/** TLS at the edge, from outside: certificate files, their renewal without a restart, and pairs that do not match. */
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { createCertificate } from '../support/certificates.ts';
import { type Plan, planProduct, writeSettings } from '../support/deployment.ts';
import { launcher, type Running, runTollgate, startProcess } from '../support/processes.ts';
import { eventually, fetchAccessToken } from '../support/product.ts';

interface Seen {
	readonly status: number;
	readonly text: string;
	/** Common name of the certificate that the server presented. */
	readonly name: string;
}

function ask(url: string, path: string, ca: string, init: { body?: string; token?: string } = {}): Promise<Seen> {
	const { hostname, port } = new URL(url);
	return new Promise((resolve, reject) => {
		const headers = { ...(init.token !== undefined && { authorization: `Bearer ${init.token}`, 'content-type': 'application/json' }) };
		const method = init.body === undefined ? 'GET' : 'POST';
		const call = request({ hostname, port, path, ca, method, headers, agent: false }, (response) => {
			const { CN } = (response.socket as TLSSocket).getPeerCertificate().subject;
			let text = '';
			response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
			response.on('end', () => resolve({ status: response.statusCode ?? 0, text, name: String(CN) }));
		});
		call.on('error', reject);
		call.end(init.body);
	});
}

/** Settings that name two files, and the files. */
async function planWithFiles(material: {
	certificate: string;
	privateKey: string;
}): Promise<Plan & { certificatePath: string; keyPath: string }> {
	const plan = await planProduct();
	const [certificatePath, keyPath] = [join(plan.directory, 'edge.pem'), join(plan.directory, 'edge.key')];
	writeFileSync(certificatePath, material.certificate);
	writeFileSync(keyPath, material.privateKey, { mode: 0o600 });
	const edge = { ...(plan.settings['edge'] as object), tls: { certificate_file: certificatePath, private_key_file: keyPath } };
	writeSettings(plan.configPath, { ...plan.settings, edge });
	return { ...plan, certificatePath, keyPath };
}

const start = ({ configPath }: Plan): Running => startProcess(process.execPath, [launcher, 'start', '--config', configPath]);

test('certificate and key from files; renewed ones are shown without a restart, a bad pair is not', async () => {
	const [first, second, third] = [createCertificate('first'), createCertificate('second'), createCertificate('third')];
	const plan = await planWithFiles(first);
	const product = start(plan);
	const nameWith = (ca: string): Promise<string | undefined> =>
		ask(plan.gatewayUrl, '/readyz', ca).then(
			({ status, name }) => (status === 200 ? name : undefined),
			() => undefined,
		);
	expect(await eventually('the edge answers over TLS', () => nameWith(first.certificate), 15_000)).toBe('first');
	expect(await fetch(plan.gatewayUrl).catch(() => 'nothing'), 'plain HTTP').toBe('nothing');
	const token = await fetchAccessToken(`${plan.identityUrl}/oauth2/token`, { id: 'agent', secret: 'secret-of-the-agent-0123456789' });
	const question = { model: 'gpt-sim-tokens-20-interval-5', stream: true, messages: [{ role: 'user', content: 'hi' }] };
	const streamed = await ask(plan.gatewayUrl, '/v1/chat/completions', first.certificate, { token, body: JSON.stringify(question) });
	expect(streamed.status).toBe(200);
	expect(streamed.text).toMatch(/data: \[DONE\]\n\n$/);

	// Files change one after the other: the pair in between does not match, and is rejected.
	writeFileSync(plan.certificatePath, second.certificate);
	await product.logged('configuration rejected, the previous one stays active');
	expect(await nameWith(first.certificate)).toBe('first');
	writeFileSync(plan.keyPath, second.privateKey);
	expect(await eventually('the second certificate is shown', () => nameWith(second.certificate))).toBe('second');

	const rejections = (): number => product.log.filter((line) => String(line['msg']).startsWith('configuration rejected')).length;
	for (const [path, text] of [
		[plan.keyPath, 'no key'],
		[plan.keyPath, third.privateKey],
		[plan.certificatePath, ''],
	] as const) {
		const before = rejections();
		writeFileSync(path, text);
		await eventually(`${path} is rejected`, () => (rejections() > before ? true : undefined));
		expect(await nameWith(second.certificate)).toBe('second');
	}
	expect(product.stdout).not.toContain('PRIVATE KEY');
	expect(product.stderr).toBe('');
}, 60_000);

test('at the start, a pair that does not match is rejected with the name of the setting', async () => {
	const [one, other] = [createCertificate('one'), createCertificate('other')];
	const plan = await planWithFiles({ certificate: one.certificate, privateKey: other.privateKey });
	const check = async (): Promise<string> => {
		const { code, stderr, stdout } = await runTollgate(['config', 'check', '--config', plan.configPath]);
		expect(code).not.toBe(0);
		expect(stderr + stdout).not.toContain('PRIVATE KEY');
		return stderr + stdout;
	};
	expect(await check()).toMatch(/edge\.tls\.private_key.*does not belong to the certificate/);
	writeFileSync(plan.certificatePath, one.certificate + other.certificate.slice(0, 200));
	writeFileSync(plan.keyPath, one.privateKey);
	expect(await check()).toMatch(/edge\.tls\.certificate.*is not usable with its chain and private key: bad end line/);
	writeFileSync(plan.keyPath, 'x');
	expect(await check()).toMatch(/edge\.tls\.private_key.*is not a private key/);
	writeFileSync(plan.certificatePath, other.privateKey);
	expect(await check()).toMatch(/edge\.tls\.certificate.*is not a certificate/);
}, 30_000);
