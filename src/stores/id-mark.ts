const marked = 8;

/**
 * A number that few ids share: what their last, random characters make. For maps by call: one that is asked for a text it has not met
 * enters it into the engine's table of names first, which costs more than the rest.
 */
export function markOf(id: string): number {
	let mark = 0;
	for (let place = Math.max(0, id.length - marked); place < id.length; place++) mark = (mark * 31 + id.charCodeAt(place)) | 0;
	return mark;
}
