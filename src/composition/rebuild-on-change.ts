import type { Config } from '../config/schema.ts';

/** A value made from settings. It stays, with its state, while its settings are unchanged. */
export interface RebuildOnChange<Made> {
	readonly current: Made;
	readonly prepare: (config: Config) => () => void;
}

export function rebuildOnChange<Settings, Made>(
	config: Config,
	settingsOf: (config: Config) => Settings,
	make: (settings: Settings) => Made,
): RebuildOnChange<Made> {
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
