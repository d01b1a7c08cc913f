import { join } from 'node:path';
import { root } from './prose/files.ts';
import { buildSite } from './site/build-site.ts';

process.chdir(root);
try {
	const count = await buildSite(join(root, 'site'));
	console.log(`${count} pages: open site/index.html`);
} catch (error) {
	console.error(error instanceof Error ? error.message : error);
	process.exitCode = 1;
}
