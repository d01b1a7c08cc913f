/** Matches a name against a pattern in which each `*` stands for any text, also empty. Linear in the length of both. */
export function matchesModel(pattern: string, name: string): boolean {
	if (!pattern.includes('*')) return pattern === name;
	const [head = '', ...middle] = pattern.split('*');
	const tail = middle.pop() ?? '';
	if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
	const end = name.length - tail.length;
	let from = head.length;
	for (const part of middle) {
		const at = name.indexOf(part, from);
		if (at === -1 || at + part.length > end) return false;
		from = at + part.length;
	}
	return true;
}
