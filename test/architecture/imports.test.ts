import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkImports } from '../../scripts/import-table.ts';

const root = join(import.meta.dirname, '../..');

/** Planted files, one per line, with their imports; `!` precedes the name of the rule that must report it. */
const planted = `
src/core/a.ts                  ../wire/a.ts                    ! core-imports
src/core/b.ts                  node:fs                         ! core-is-pure
src/core/c.ts                  zod                             ! core-is-pure
src/wire/a.ts                  ../policy/a.ts                  ! wire-imports
src/wire/b.ts                  node:crypto                     ! wire-is-pure
src/wire/c.ts                  ../core/ok.ts
src/policy/a.ts                ../stores/contracts/a.ts        ! policy-imports
src/policy/b.ts                jose                            ! policy-is-pure
src/stores/contracts/a.ts      ../../io/a.ts                   ! stores-imports
src/stores/memory/a.ts         ../sqlite/ok.ts                 ! stores-strangers
src/stores/memory/b.ts         node:sqlite                     ! sqlite-driver
src/stores/sqlite/a.ts         node:sqlite
src/stores/sqlite/b.ts         ../contracts/ok.ts
src/stores/sqlite/ok.ts        ../../core/ok.ts
src/io/a.ts                    ../roles/edge/ok.ts             ! io-imports
src/io/b.ts                    ../policy/ok.ts
src/io/c.ts                    undici                          ! undici-client
src/io/http1/undici/ok.ts      undici
src/roles/edge/a.ts            ../gateway/ok.ts                ! roles-strangers
src/roles/edge/b.ts            ../../io/b.ts                   ! roles-imports
src/roles/edge/c.ts            ../../config/ok.ts              ! roles-imports
src/roles/edge/d.ts            ../../stores/sqlite/ok.ts       ! roles-imports
src/roles/edge/e.ts            ../../stores/contracts/ok.ts
src/roles/edge/f.ts            ../../compose.ts                ! roles-imports
src/roles/edge/f.test.ts       ../../io/b.ts
src/config/a.ts                ../io/b.ts                      ! config-imports
src/cli/a.ts                   ../wire/c.ts                    ! cli-imports
src/cli/b.ts                   ../config/ok.ts
src/client/a.ts                ../core/ok.ts                   ! client-imports
src/compose.ts                 ./roles/edge/ok.ts
src/compose.ts                 ./io/b.ts
src/io/c.ts                    ../../test/ok.ts                ! no-test-in-product
src/io/d.ts                    ./d.test.ts                     ! no-test-in-product
src/io/e.ts                    ./absent.ts                     ! no-unresolved
src/io/f.ts                    vitest                          ! no-dev-dependency
src/core/cycle-1.ts            ./cycle-2.ts                    ! no-cycle
src/core/cycle-2.ts            ./cycle-1.ts
src/wire/providers/one.ts      ./two.ts                        ! wire/providers-strangers
src/wire/providers/one.ts      ./provider.ts
src/wire/providers/providers.ts ./two.ts
src/wire/providers/one.ts      ./scrub-secrets.ts
src/policy/guardrails/one.ts   ./two/ok.ts                     ! policy/guardrails-strangers
src/policy/guardrails/three.ts zod                             ! policy/guardrails-is-pure
src/policy/guardrails/four.ts  node:fs                         ! policy/guardrails-is-pure
src/policy/guardrails/five.ts  re2js
src/stores/memory/c.ts         pg                              ! postgres-driver
src/stores/memory/d.ts         kysely                          ! postgres-driver
src/stores/postgres/a.ts       pg
src/stores/memory/e.ts         ioredis                         ! redis-driver
src/stores/redis/a.ts          ioredis
src/compose.ts                 ../simulator/ok.ts
src/composition/a.ts           ../../simulator/ok.ts
src/io/g.ts                    ../../simulator/ok.ts           ! simulator-imported
src/roles/edge/g.ts            ../../../simulator/ok.ts        ! simulator-imported
src/io/g.test.ts               ../../simulator/ok.ts
simulator/a.ts                 ../src/wire/c.ts                ! simulator-imports
simulator/b.ts                 ../src/compose.ts               ! simulator-imports
simulator/c.ts                 ../src/core/ok.ts
simulator/d.ts                 ioredis                         ! redis-driver
simulator/e.ts                 ./e.test.ts                     ! no-test-in-product
simulator/e.test.ts            ../src/wire/c.ts
simulator/f.ts                 vitest                          ! no-dev-dependency
simulator/g.ts                 ../content-filter/ok.ts         ! simulator-imports
src/composition/b.ts           ../../content-filter/ok.ts
src/io/h.ts                    ../../content-filter/ok.ts      ! content-filter-imported
src/policy/c.test.ts           ../../content-filter/ok.ts
content-filter/ok.ts           node:fs
content-filter/a.ts            ../src/config/ok.ts             ! content-filter-imports
content-filter/b.ts            ./training/a.ts                 ! no-training-in-product
src/composition/c.ts           ../../content-filter/training/a.ts ! no-training-in-product
content-filter/training/a.ts   ../../src/policy/ok.ts
content-filter/training/b.ts   ./a.ts
`;

interface Plant {
	readonly file: string;
	readonly imported: string;
	readonly rule: string | undefined;
}

const plants: Plant[] = planted
	.trim()
	.split('\n')
	.map((line) => {
		const [file = '', imported = '', , rule] = line.split(/\s+/);
		return { file, imported, rule };
	});

/** Writes the planted tree, as values or as `import type`, and returns the checker's findings. */
async function checkPlanted(keyword: 'import' | 'import type'): Promise<string[]> {
	const tree = mkdtempSync(join(tmpdir(), 'tollgate-planted-'));
	onTestFinished(() => rmSync(tree, { recursive: true }));
	const bodies = new Map<string, string>();
	for (const { file, imported } of plants) {
		const target = join(dirname(file), imported);
		if (imported.startsWith('.') && !imported.includes('absent') && !bodies.has(target)) bodies.set(target, '');
		bodies.set(file, `${bodies.get(file) ?? ''}${keyword} { x } from '${imported}';\nexport type Y = typeof x;\n`);
	}
	for (const [file, body] of bodies) {
		mkdirSync(join(tree, dirname(file)), { recursive: true });
		writeFileSync(join(tree, file), `${body}export const x = 1;\n`);
	}
	symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
	const dependencies = Object.fromEntries(['zod', 'jose', 're2js', 'pg', 'kysely', 'ioredis', 'undici'].map((name) => [name, '*']));
	writeFileSync(join(tree, 'package.json'), JSON.stringify({ dependencies, devDependencies: { vitest: '*' } }));
	return (await checkImports(tree)).violations.map((violation) => violation.split(' -> ')[0] ?? '');
}

test.each(['import', 'import type'] as const)(
	'each planted `%s` against the table is reported by its rule, and nothing else is',
	async (keyword) => {
		const expected = plants.flatMap(({ file, rule }) => (rule === undefined ? [] : [`${rule}: ${file}`])).toSorted();
		expect(await checkPlanted(keyword)).toEqual(expected);
	},
);

test('the product keeps to the table', async () => {
	const report = await checkImports(root);
	expect(report.violations).toEqual([]);
	expect(report.moduleCount).toBeGreaterThan(20);
});
