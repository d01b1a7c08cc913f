import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedDocs } from './generated-docs.ts';

for (const [path, generate] of generatedDocs) {
	const file = join(import.meta.dirname, '..', path);
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, await generate());
	console.log(path);
}
