/** Allows four names, an endpoint and the key of attributes in one index entry of 2,704 bytes. */
const maxNameBytes = 640;

export function indexedName(name: string): string {
	return Buffer.byteLength(name) <= maxNameBytes ? name : name.slice(0, maxNameBytes / 3);
}
