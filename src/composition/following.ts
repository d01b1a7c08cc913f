import type { Config } from '../config/schema.ts';

/** What is made from settings; it stays, with all that it remembers, while its settings stay the same. */
export interface Following<Made> {
	readonly current: Made;
	readonly prepare: (config: Config) => () => void;
}

export function following<Settings, Made>(
	config: Config,
	settingsOf: (config: Config) => Settings,
	make: (settings: Settings) => Made,
): Following<Made> {
	const makeFrom = (next: Config, before?: { fingerprint: string; value: Made }): { fingerprint: string; value: Made } => {
		const settings = settingsOf(next);
		const fingerprint = JSON.stringify(settings);
		return before?.fingerprint === fingerprint ? before : { fingerprint, value: make(settings) };
	};
	let made = makeFrom(config);
	return {
		get current() {
			return made.value;
		},
		prepare(next) {
			const prepared = makeFrom(next, made);
			return () => {
				made = prepared;
			};
		},
	};
}
