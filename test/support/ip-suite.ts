/** Generated sentences with an IP address, and with similar texts. */
import { findPii } from '../../src/policy/guardrails/pii/pii-detector.ts';

interface IpRow {
	readonly text: string;
	/** Address in the sentence; undefined if there is none. */
	readonly address: string | undefined;
}

const rowsOfAKind = 200;
let seed = 20_261_121;

function random(below: number): number {
	seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
	return Math.floor((seed / 0x80000000) * below);
}

const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item;
const hex = (length: number): string => Array.from({ length }, () => '0123456789abcdef'[random(16)]).join('');
const group = (): string => (random(0xfff0) + 1).toString(16);
const two = (below: number): string => String(random(below)).padStart(2, '0');

function ipv4(): string {
	return [1 + random(223), random(256), random(256), 1 + random(254)].join('.');
}

/** Address in full, shortened in the middle or at an end, in capitals, or with a version 4 address at its end. */
function ipv6(): string {
	const groups = (count: number): string => Array.from({ length: count }, group).join(':');
	return pick([
		() => groups(8),
		() => `2001:db8::${groups(1 + random(3))}`,
		() => `fe80::${groups(4)}`,
		() => `${groups(3)}::${groups(2)}`.toUpperCase(),
		() => `2a0${random(10)}:${groups(2)}::`,
		() => `::ffff:${ipv4()}`,
	])();
}

const places: readonly ((address: string) => string)[] = [
	(address) => `My address is ${address}.`,
	(address) => `Why was ${address} blocked last night?`,
	(address) => `The server (${address}) does not answer.`,
	(address) => `{"client_ip":"${address}","status":200}`,
	(address) => `Allow from ${address}, deny the rest`,
	(address) => `ping -c 3 ${address}`,
	(address) => `host=${address} user=ann`,
	(address) => `Logs say: "${address}" connected`,
	(address) => `${address} - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200`,
	(address) => `Block ${address}/64 at the router`,
];

const others: readonly (() => string)[] = [
	() => `It began at ${two(24)}:${two(60)}:${two(60)} and ended at ${two(24)}:${two(60)}.`,
	() => `Upgrade to version ${random(30)}.${random(40)}.${random(90)} before Monday`,
	() => `Driver version ${random(30)}.${random(40)}.${random(90)}.${random(200)} crashes`,
	() =>
		`Since v${random(30)}.${random(40)}.${random(90)}.${random(200)} and firmware ${random(9)}.${random(9)}.${random(90)}.${random(200)} it works`,
	() => `Build number ${random(9)}.${random(9)}.${random(90)}.${random(200)}, compiled on Friday`,
	() => `The build 1.${random(20)}.${random(20)}.${random(20)}.${random(900)} fails`,
	() => `Chapter ${random(12)}.${random(9)} of ${1900 + random(120)} has ${random(900)}.${random(99)} lines`,
	() => `Request ${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)} was lost`,
	() => `The hash is ${hex(40)}`,
	() => `Hardware address ${Array.from({ length: 6 }, () => hex(2)).join(':')} is unknown`,
	() => `Release ${256 + random(700)}.${random(99)}.${random(99)}.${random(99)} is no address`,
	() => `Use std::${pick(['vector', 'map', 'deque', 'face', 'bad'])}<int> and a::b in line ${random(999)}`,
	() => `Ratio ${random(99)}:${random(99)}, score ${random(9)}:${random(9)}, verse ${random(50)}:${random(40)}-${random(60)}`,
	() => `On ${two(28)}.${two(12)}.${2000 + random(27)} at ${two(24)}.${two(60)} we met in room ${random(900)}`,
	() => `Order ${random(9)}.${random(999)}.${100 + random(899)},${two(99)} EUR, item ${hex(6)}`,
	() => `See section ${random(20)}.${random(20)}.${random(20)}.${random(20)}.${random(20)} on page ${random(600)}`,
	() => `Localhost is 127.0.0.1 or ::1, port ${1024 + random(60_000)}`,
	() => `Temperature ${random(40)}.${random(10)}, wind ${random(90)}.${random(10)}, pressure ${900 + random(120)}.${random(10)}`,
];

function generate(): readonly IpRow[] {
	const rows: IpRow[] = [];
	const known = new Set<string>();
	const add = (row: IpRow): void => {
		if (known.has(row.text)) return;
		known.add(row.text);
		rows.push(row);
	};
	for (let made = 0; rows.length < rowsOfAKind; made++) {
		const address = made % 2 === 0 ? ipv4() : ipv6();
		add({ text: (places[(made >> 1) % places.length] as (of: string) => string)(address), address });
	}
	for (let made = 0; rows.length < 2 * rowsOfAKind; made++) {
		add({ text: (others[made % others.length] as () => string)(), address: undefined });
	}
	return rows;
}

export const ipRows = generate();

export function measureIpAddresses(): { found: number; marked: number; flagged: number; others: number } {
	const counts = { found: 0, marked: 0, flagged: 0, others: 0 };
	for (const { text, address } of ipRows) {
		const found = findPii(text, new Set(['ip'])).map(({ start, end }) => text.slice(start, end));
		if (address === undefined) {
			counts.others++;
			if (found.length > 0) counts.flagged++;
		} else {
			counts.marked++;
			if (found.includes(address)) counts.found++;
		}
	}
	return counts;
}
