import { expect, test } from 'vitest';
import { startAdmin } from '../../../test/support/admin.ts';
import { readAdminDocument } from '../../../test/support/admin-document.ts';

test.each([
	[true, [200, 200, 200]],
	[false, [401, 403, 200]],
])('GET /metrics, open: %s', async (hasOpenMetrics, statuses) => {
	const subject = await startAdmin({ hasOpenMetrics });
	const as = (headers: Record<string, string>) => fetch(`${subject.baseUrl}/metrics`, { headers });
	const responses = [await as({}), await as({ authorization: 'Bearer agent' }), await as({ authorization: 'Bearer root' })];
	expect(responses.map(({ status }) => status)).toEqual(statuses);
	const last = responses.at(-1);
	expect([await last?.text(), last?.headers.get('content-type'), last?.headers.get('cache-control')]).toEqual([
		'# none\n',
		'text/plain; version=0.0.4; charset=utf-8',
		'no-store',
	]);
	const document = await readAdminDocument(subject.baseUrl);
	expect(document.operations.find(({ path }) => path === '/metrics')).toMatchObject({ method: 'GET', isPublic: hasOpenMetrics });
	await subject.stop();
});
