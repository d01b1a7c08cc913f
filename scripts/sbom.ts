/** Packages installed at run time, as CycloneDX 1.5. `npm sbom --omit dev` leaves out packages that development needs as well. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface LockedPackage {
	readonly name?: string;
	readonly version?: string;
	readonly integrity?: string;
	readonly license?: string;
	readonly optional?: boolean;
	readonly dependencies?: Readonly<Record<string, string>>;
	readonly optionalDependencies?: Readonly<Record<string, string>>;
	readonly peerDependencies?: Readonly<Record<string, string>>;
}

type Lock = Readonly<Record<string, LockedPackage>>;

/** Writes neither a time nor a serial number, so the same lockfile gives the same text. */
export function describePackages(): string {
	const lockText = readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8');
	const { packages: lock } = JSON.parse(lockText) as { packages: Lock };
	const [own, ...needed] = reachable(lock);
	if (own === undefined) throw new Error('package-lock.json does not hold the project itself');
	const { purl, ...root } = componentOf(...own);
	const bom = {
		$schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
		bomFormat: 'CycloneDX',
		specVersion: '1.5',
		version: 1,
		metadata: { component: { ...root, type: 'application', purl } },
	};
	const components = needed.map((one) => componentOf(...one)).toSorted(byReference);
	const dependencies = [own, ...needed].map(([path, locked]) => ({
		ref: referenceOf(path, locked),
		dependsOn: [...new Set(requiredBy(lock, path).map((found) => referenceOf(found, lock[found] ?? {})))].toSorted(),
	}));
	const lines = (list: readonly object[]): string => list.map((one) => `\t\t${JSON.stringify(one)}`).join(',\n');
	const head = JSON.stringify(bom, null, '\t').replace(/\n}$/, '');
	return `${head},\n\t"components": [\n${lines(components)}\n\t],\n\t"dependencies": [\n${lines(dependencies)}\n\t]\n}\n`;
}

/** Returns the project first. */
function reachable(lock: Lock): (readonly [path: string, locked: LockedPackage])[] {
	const paths = new Set(['']);
	// Iteration over a set includes the entries added meanwhile.
	for (const path of paths) for (const found of requiredBy(lock, path)) paths.add(found);
	return [...paths].map((path) => [path, lock[path] ?? {}] as const);
}

function requiredBy(lock: Lock, path: string): string[] {
	const { dependencies, optionalDependencies, peerDependencies } = lock[path] ?? {};
	const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
	return names.flatMap((name) => find(lock, path, name) ?? []);
}

/** Resolves like Node: in the package's own folder, then in its parents. */
function find(lock: Lock, from: string, name: string): string | undefined {
	const path = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`;
	if (path in lock) return path;
	return from === '' ? undefined : find(lock, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name);
}

function componentOf(path: string, locked: LockedPackage) {
	const { version, integrity, license, optional } = locked;
	const reference = referenceOf(path, locked);
	return {
		type: 'library',
		'bom-ref': reference,
		name: nameOf(path, locked),
		version,
		// Optional packages are alternatives: only that of the platform is installed.
		...(optional === true && { scope: 'optional' }),
		...(integrity !== undefined && { hashes: [{ alg: 'SHA-512', content: hexOf(integrity) }] }),
		licenses: [license !== undefined && /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license }],
		purl: reference,
	};
}

function nameOf(path: string, { name }: LockedPackage): string {
	return name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function referenceOf(path: string, locked: LockedPackage): string {
	return `pkg:npm/${nameOf(path, locked).replace('@', '%40')}@${locked.version}`;
}

function hexOf(integrity: string): string {
	return Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
}

function byReference(left: { readonly 'bom-ref': string }, right: { readonly 'bom-ref': string }): number {
	return left['bom-ref'] < right['bom-ref'] ? -1 : 1;
}
