/** Words without their endings, as far as a few rules for English go; those of other languages mostly stay as they are. */
const word = /[\p{L}\p{N}]+/gu;
const endings = /(?:ations?|ings?|edly|ed|ies|es|s|ly)$/;
const shortestStem = 3;

const stopWords = new Set(
	(
		'a about all also am an and any are as at be because been but by can could did do does for from get had has have he her him his how i if ' +
		'in into is it its just like make may me might more most my no not now of on one only or other our out over please s shall she should so ' +
		'some such t tell than that the their them then there these they this those to too up us use very was we were what when where which who ' +
		'whom why will with would you your'
	)
		.split(' ')
		.map((one) => stemOf(one)),
);

export function wordsOf(text: string): readonly string[] {
	return text.normalize('NFKC').toLowerCase().match(word) ?? [];
}

export function stemOf(written: string): string {
	const stem = written.replace(endings, '');
	return stem.length >= shortestStem ? stem : written;
}

export function isStopWord(stem: string): boolean {
	return stopWords.has(stem);
}
