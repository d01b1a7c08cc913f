/** Metrics of requests, counted where their log line is written: exactly once each, with a complete record. */

import type { Counter, Histogram, Metrics } from '../core/metrics.ts';
import { rejections } from '../core/rejection.ts';
import { upstreamErrors } from '../core/upstream-error.ts';
import { canonicalPath } from '../wire/canonical-path.ts';
import type { RequestLogEntry, RequestObserver } from './request-log.ts';

export interface RequestMetricsSettings {
	/** Role of the server, such as `gateway`. */
	readonly role: string;
	/** Name of the format, by the path of each inference endpoint. */
	readonly formats: ReadonlyMap<string, string>;
}

/** Responses of models take from a tenth of a second to many minutes. */
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];

/** Counters shared by all requests with the same labels. */
interface Counted {
	readonly status: number;
	readonly outcome: RequestLogEntry['outcome'];
	readonly requests: ReturnType<Counter['of']>;
	readonly duration: ReturnType<Histogram['of']> | undefined;
	readonly firstByte: ReturnType<Histogram['of']> | undefined;
}

/** Labels come from the configuration and from catalogues; the bound is a safeguard in case one does not. */
const maxCached = 2000;

export function createRequestObserver(metrics: Metrics, { role, formats }: RequestMetricsSettings): RequestObserver {
	const requests = metrics.counter(
		'tollgate_requests_total',
		'Completed requests. `format` is `none` for paths other than inference endpoints.',
		['role', 'format', 'provider', 'outcome', 'status'],
	);
	const durations = metrics.histogram(
		'tollgate_request_duration_seconds',
		'Duration of inference requests, from arrival to the last byte of the response.',
		durationBuckets,
		['role', 'format', 'provider'],
	);
	const firstBytes = metrics.histogram(
		'tollgate_time_to_first_byte_seconds',
		'Time from the arrival of an inference request to the provider’s first byte.',
		durationBuckets,
		['role', 'format', 'provider'],
	);
	const errors = metrics.counter(
		'tollgate_errors_total',
		'Requests that ended with an error from Tollgate, by code of the error reference.',
		['role', 'kind', 'code'],
	);
	// Nested by format and provider instead of one combined key, which would be created and hashed for each request. The other two labels
	// have few values.
	const known = new Map<string, Map<string, Counted[]>>();
	let knownCount = 0;

	const countedFor = ({ status, outcome }: RequestLogEntry, format: string, provider: string): Counted => {
		let counted = known
			.get(format)
			?.get(provider)
			?.find((one) => one.status === status && one.outcome === outcome);
		if (counted === undefined) {
			const timed = { role, format, provider };
			counted = {
				status,
				outcome,
				requests: requests.of({ ...timed, outcome, status: String(status) }),
				duration: format === 'none' ? undefined : durations.of(timed),
				firstByte: format === 'none' ? undefined : firstBytes.of(timed),
			};
			cache(counted, format, provider);
		}
		return counted;
	};
	const cache = (counted: Counted, format: string, provider: string): void => {
		if (knownCount >= maxCached) {
			known.clear();
			knownCount = 0;
		}
		knownCount++;
		const ofFormat = known.get(format) ?? new Map<string, Counted[]>();
		known.set(format, ofFormat);
		ofFormat.set(provider, [...(ofFormat.get(provider) ?? []), counted]);
	};

	return (record) => {
		const { record: requestRecord, code } = record;
		const counted = countedFor(record, formatOf(record, formats), requestRecord.provider ?? 'none');
		counted.requests.add();
		counted.duration?.observe(record.durationMs / 1000);
		if (requestRecord.firstByteMs !== undefined) counted.firstByte?.observe(requestRecord.firstByteMs / 1000);
		if (code !== undefined) errors.add(1, { role, ...errorOf(code) });
	};
}

function formatOf({ method, target }: RequestLogEntry, formats: ReadonlyMap<string, string>): string {
	if (method !== 'POST') return 'none';
	const mark = target.indexOf('?');
	return formats.get(canonicalPath(mark === -1 ? target : target.slice(0, mark))) ?? 'none';
}

function errorOf(code: string): { kind: string; code: string } {
	if (Object.hasOwn(rejections, code)) return { kind: 'rejected', code };
	if (Object.hasOwn(upstreamErrors, code)) return { kind: 'upstream', code };
	return { kind: code === 'internal_error' ? 'internal' : 'other', code: code === 'internal_error' ? code : 'other' };
}
