// Loads the index when the reader first uses the search, by script elements, which work without a server too.
'use strict';

const base = document.currentScript.dataset.base;
const input = document.querySelector('.search input');
const list = document.querySelector('.search ol');
let loading;

function load(path) {
	return new Promise((resolve, reject) => {
		const script = document.createElement('script');
		script.src = base + path;
		script.addEventListener('load', resolve);
		script.addEventListener('error', reject);
		document.head.append(script);
	});
}

async function createIndex() {
	await Promise.all([load('theme/minisearch.js'), load('theme/search-sections.js')]);
	const index = new MiniSearch({
		fields: ['heading', 'page', 'text'],
		storeFields: ['heading', 'page', 'text'],
		searchOptions: {
			boost: { heading: 4, page: 2 },
			// Ranks decision records lower, because they explain and do not instruct.
			boostDocument: (id) => (id.startsWith('decisions/') ? 0.3 : 1),
			prefix: true,
			fuzzy: 0.15,
			combineWith: 'AND',
		},
	});
	index.addAll(globalThis.searchSections);
	return index;
}

function excerpt({ text, terms }) {
	const at = Math.max(0, ...terms.map((term) => text.toLowerCase().indexOf(term)));
	const start = Math.max(0, at - 40);
	return (start > 0 ? '…' : '') + text.slice(start, start + 140);
}

async function search() {
	loading ??= createIndex();
	const index = await loading;
	const results = index.search(input.value).slice(0, 12);
	list.replaceChildren(
		...results.map((result) => {
			const link = document.createElement('a');
			link.href = base + result.id;
			const heading = document.createElement('strong');
			heading.textContent = result.page === result.heading ? result.page : `${result.page} › ${result.heading}`;
			const text = document.createElement('span');
			text.textContent = excerpt(result);
			link.append(heading, text);
			const item = document.createElement('li');
			item.append(link);
			return item;
		}),
	);
	list.hidden = results.length === 0;
}

input.addEventListener(
	'focus',
	() => {
		loading ??= createIndex();
	},
	{ once: true },
);
input.addEventListener('input', () => void search());
document.addEventListener('keydown', (event) => {
	if (event.key === '/' && document.activeElement !== input) {
		event.preventDefault();
		input.focus();
	} else if (event.key === 'Escape') {
		list.hidden = true;
	} else if (event.key === 'Enter' && document.activeElement === input) {
		list.querySelector('a')?.click();
	}
});
