/** The firewall with its state: each component and its state stay in place while its own settings are unchanged. */
import { randomInt } from 'node:crypto';
import { ConfigError } from '../config/problem.ts';
import type { Config } from '../config/schema.ts';
import type { Log } from '../core/log.ts';
import { ReputationFileError, ReputationFiles } from '../io/reputation-files.ts';
import { createFirewall, type Firewall } from '../policy/firewall/firewall.ts';
import { IpRateWindow } from '../policy/firewall/ip-rate-window.ts';
import { SharedIpRate } from '../policy/firewall/shared-ip-rate.ts';
import type { SourceCounts } from '../stores/contracts/source-counts.ts';
import type { AppContext } from './app-context.ts';
import { rebuildOnChange } from './rebuild-on-change.ts';
import { firewallSettings, ipRateSettings, reputationSettings } from './settings.ts';

export interface ComposedFirewall {
	readonly judge: Firewall;
	/** As in `Part`. */
	prepare(config: Config): () => void;
}

/** @throws ConfigError if a reputation list is unusable. */
export async function composeFirewall({ config, clock, log, metrics, cleanup }: AppContext): Promise<ComposedFirewall> {
	const hashSeed = randomInt(2 ** 32);
	const shared = await openSharedCounts(config, log);
	cleanup.defer(() => shared?.close());
	const rate = rebuildOnChange(config, ipRateSettings, (settings) => {
		const window = new IpRateWindow(settings, hashSeed);
		return shared === undefined ? window : new SharedIpRate(window, (counts) => shared.add(counts, settings.windowSeconds), { clock, log });
	});
	const lists = rebuildOnChange(config, reputationSettings, (files) => readLists(() => new ReputationFiles(files, { clock, log })));
	const firewall = rebuildOnChange(config, firewallSettings, (settings) =>
		createFirewall(settings, {
			admitSource: (source, nowMs) => rate.current.admit(source, nowMs),
			reputationLists: () => lists.current.entries,
			clock,
			log,
			metrics,
		}),
	);
	lists.current.start();
	cleanup.defer(() => lists.current.stop());
	return {
		judge: (request) => firewall.current(request),
		prepare(next) {
			const before = lists.current;
			const commits = [rate, lists, firewall].map((part) => part.prepare(next));
			return () => {
				for (const commit of commits) commit();
				if (lists.current === before) return;
				before.stop();
				lists.current.start();
			};
		},
	};
}

async function openSharedCounts({ stores: { counters } }: Config, log: Log): Promise<SourceCounts | undefined> {
	if (counters === 'memory') return undefined;
	const { openRedisSourceCounts } = await import('../stores/redis/redis-source-counts.ts');
	return openRedisSourceCounts({ url: counters }, log);
}

function readLists(read: () => ReputationFiles): ReputationFiles {
	try {
		return read();
	} catch (cause) {
		if (!(cause instanceof ReputationFileError)) throw cause;
		const { file, line, message } = cause;
		throw new ConfigError([{ file, line: line === 0 ? null : line, column: null, path: 'edge.firewall.reputation', message }]);
	}
}
