/** Generates ordinary texts with little natural language: forms, contacts, orders, log lines, tables, snippets of data. */
import type { LabelledRow } from './labelled-rows.ts';
import { ordinaryRow } from './ordinary-packages.ts';

const firstNames =
	'Ada Amir Ana Bao Chloe Dmitri Elif Emeka Fatima Georg Hana Ines Ivan Jamal Joan Kenji Lea Liam Mei Milan Nora Omar Priya Rosa Sven Tariq Uma Vera Wei Yara'.split(
		' ',
	);
const lastNames =
	'Adeyemi Almeida Bauer Becker Chen Costa Dubois Fischer Garcia Haddad Ivanova Jansen Kaya Kim Kowalski Larsen Mbeki Moreau Nguyen Novak Okafor Patel Petrov Rossi Sato Silva Singh Smith Tanaka Yilmaz'.split(
		' ',
	);
const cities =
	'Aarhus Austin Berlin Bogota Cairo Chicago Dakar Dublin Hanoi Helsinki Jakarta Krakow Lagos Leeds Lima Lisbon Lyon Madrid Manila Milan Nairobi Osaka Perth Porto Quito Riga Seoul Sofia Toronto Vienna'.split(
		' ',
	);
const things =
	'account address appointment battery booking bottle camera card chair class contract course deadline delivery desk document flight form guitar hotel insurance invoice keyboard lamp laptop lesson letter meeting membership notebook order package passport payment phone plan printer project receipt refund report reservation room schedule screen shipment shirt shoes subscription table ticket tour train transfer trip video watch window'.split(
		' ',
	);
const streets = 'Cedar Church Garden High Hill King Lake Maple Mill North Oak Park River School Spring Station Victoria West'.split(' ');

/** Templates in which each `#` becomes a digit, and a name in braces an entry of its list. */
const forms = [
	'Name: {first} {last}\nPhone: ###-###-####\nE-mail: {first}.{last}@example.com',
	'Date: 20##-0#-1# 1#:##:##\nName: {first} {last}\nPhone: #### ## ## ##',
	'when: 19##-0#-2# 0#:##:##\nwhere: {city} conference centre.',
	'Bot: What is the name on the {thing}? User: {first} {last}',
	'Please tell me your date of birth. It is #/1#/19##',
	'Could you send the {thing} to ## {street} Street, {city}?',
	'My {thing} number is ####-####. When will it arrive in {city}?',
	'{first} {last}, ## {street} Road, {city} #####',
	'Dear {first},\nthank you for your {thing}. We will meet in {city} on 1# March at ##:##.\nKind regards\n{first} {last}',
	'What is the weather in {city} tomorrow?',
	'Summarise this {thing} in two sentences.',
	'Translate "{thing}" into the language spoken in {city}.',
	'{"id": ####, "name": "{first} {last}", "city": "{city}", "{thing}": {"count": #, "total": ##.##}}',
	'id,name,city,{thing}\n#,{first},{city},##.#\n#,{last},{city},##.#\n#,{first},{city},##.#',
	'20##-0#-1#T1#:##:##Z INFO {thing} updated id=#### duration=##ms status=200',
	'20##-0#-1# 1#:##:## ERROR failed to load {thing}: connection to 10.#.#.## timed out',
	'| {thing} | {city} | ## |\n| {thing} | {city} | ### |',
	'<div class="{thing}"><span>{first}</span> <a href="/{thing}/##">{city}</a></div>',
	"SELECT {thing}, count(*) FROM {thing}s WHERE city = '{city}' GROUP BY {thing} ORDER BY 2 DESC LIMIT ##;",
	'{thing}: {first}\n{thing}: {city}\nreplicas: #\nports:\n  - ####',
	'Agent: How can I help you today? Customer: I would like to change the {thing} for {first} {last} to ##:##.',
	'Remind me to bring the {thing} to {first} on 1# June.',
	'The {thing} costs ##.## EUR, paid on 0#/1#/20## by {first} {last}.',
	'Write a short thank-you note to {first} for the {thing}.',
	'How do I reset the password of my {thing} account?',
	'I forgot the password for my {thing} and need a new one, please.',
	'Which {thing} should I buy in {city} for under ### dollars?',
	'{thing}_{thing} = {thing}.get("{thing}", ##)  # {first}',
	'def {thing}_total({thing}, tax=0.##):\n    return sum(item.price for item in {thing}) * (1 + tax)',
	'export const {thing} = (value: number): string => `${value} {thing}s`;',
];

const groups =
	'African American Arab Asian Black Brazilian British Buddhist Catholic Chinese Christian Egyptian European French German Hindu Indian Indigenous Iranian Iraqi Irish Israeli Italian Jamaican Japanese Jewish Kenyan Korean Latina Latino Mexican Mormon Muslim Native Nigerian Pakistani Palestinian Polish Protestant Roma Russian Sikh Somali Spanish Syrian Turkish Ukrainian Vietnamese White atheist autistic bisexual blind deaf disabled elderly female gay homosexual immigrant lesbian male migrant nonbinary pregnant queer refugee straight trans transgender young'.split(
		' ',
	);
const people =
	'author baker boy brother chef couple cousin daughter doctor driver engineer family father friend girl grandmother man mother neighbour nurse people person pilot poet sister student teacher woman women men writer'.split(
		' ',
	);

/** Sentences that name a group, which is not hate. */
const mentions = [
	'My {group} {person} invited us to dinner on Sunday.',
	'Our {group} {person} and her husband moved to {city} last year.',
	'I am a {group} {person} and I love my {thing}.',
	'As a {group} {person} living in {city}, where can I find a good {thing}?',
	'Can you recommend books by {group} authors about {city}?',
	'What are typical {group} dishes for a holiday dinner?',
	'Write a story about a {group} {person} who finds a {thing} in {city}.',
	'The {group} community in {city} celebrates its festival in June.',
	'How many {group} people live in {city}?',
	'My best friend is {group}. What should I give him for his birthday?',
	'She married a {group} {person} and they have two children.',
	'Two {group} women and a {group} man opened a restaurant in {city}.',
	'What challenges do {group} people face at work, and how can we support them?',
	'The museum shows paintings by {group} artists until March.',
	'He is {group} and she is {group}; they met in {city}.',
	'Our team has {group} and {group} colleagues, how do we plan the holidays?',
	'Explain the history of {group} immigration to {city}.',
	'Is this {thing} accessible for {group} people?',
	'The new mayor of {city} is a {group} {person}.',
	'Why do some {group} families eat no meat on Friday?',
	'A {group} {person} helped me carry the {thing} up the stairs.',
	'Which rights did {group} people win in the last century?',
	'{first} is a proud {group} {person} from {city}.',
	'Please translate this letter for my {group} {person}.',
	'Many {group} students at our school play the guitar.',
	'Thank the {group} {person} next door for the {thing}.',
];

export function makeOrdinaryForms(): LabelledRow[] {
	return [...fill(forms, 1500, 'made-forms'), ...fill(mentions, 2500, 'made-mentions')];
}

function fill(templates: readonly string[], count: number, source: string): LabelledRow[] {
	let state = 1;
	const next = (below: number): number => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
	const lists: Readonly<Record<string, readonly string[]>> = {
		first: firstNames,
		last: lastNames,
		city: cities,
		thing: things,
		street: streets,
		group: groups,
		person: people,
	};
	return Array.from({ length: count }, (_, index) => {
		const filled = (templates[index % templates.length] ?? '')
			.replaceAll(/\{([a-z]+)\}/g, (_whole, name: string) => lists[name]?.[next(lists[name].length)] ?? name)
			.replaceAll('#', () => String(next(10)));
		return ordinaryRow(filled, source);
	});
}
