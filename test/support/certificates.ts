/** Temporary certificates for 127.0.0.1, created by the system's openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TlsMaterial } from '../../src/io/http1/server/http-server.ts';

/** Self-signed: the certificate is its own authority. */
export function createCertificate(commonName: string): TlsMaterial {
	const directory = mkdtempSync(join(tmpdir(), 'tollgate-certificate-'));
	try {
		const [keyPath, certificatePath] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
		const subject = ['-subj', `/CN=${commonName}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
		const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyPath];
		execFileSync('openssl', ['req', '-x509', ...key, '-out', certificatePath, '-days', '2', ...subject], { stdio: 'ignore' });
		return { certificate: readFileSync(certificatePath, 'utf8'), privateKey: readFileSync(keyPath, 'utf8') };
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}
