/** Tests a name against a pattern. */
export type ModelMatcher = (name: string) => boolean;

/** Compiles a pattern in which each `*` stands for any text, also empty. Linear in the length of both. */
export function compileModelPattern(pattern: string): ModelMatcher {
	if (!pattern.includes('*')) return (name) => name === pattern;
	const [head = '', ...middle] = pattern.split('*');
	const tail = middle.pop() ?? '';
	return (name) => {
		if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
		const end = name.length - tail.length;
		let from = head.length;
		for (const part of middle) {
			const at = name.indexOf(part, from);
			if (at === -1 || at + part.length > end) return false;
			from = at + part.length;
		}
		return true;
	};
}

/** Matches a name against a pattern that is used once. */
export function matchesModel(pattern: string, name: string): boolean {
	return compileModelPattern(pattern)(name);
}
