/** Names and values that split a request's usage, such as a project. Names are sorted. */
export type Attributes = Readonly<Record<string, string>>;

export const maxAttributes = 8;
export const attributeName = /^[a-z][a-z0-9_]{0,31}$/;
/** Visible ASCII characters. */
export const attributeValue = /^[\x21-\x7e]{1,128}$/;

/** Returns the canonical JSON of attributes, empty for none. Equal attributes have equal texts. */
export function attributesText(attributes: Attributes): string {
	const names = Object.keys(attributes).toSorted();
	return names.length === 0 ? '' : JSON.stringify(Object.fromEntries(names.map((name) => [name, attributes[name]])));
}
