/** Notices about what happens in Tollgate, for receivers outside. Each becomes one event of every webhook that wants it. */

export const noticeEvents = [
	'budget.warning',
	'budget.exceeded',
	'spend.anomaly',
	'provider.ejected',
	'provider.recovered',
	'credential.expiring',
] as const;

export type NoticeEvent = (typeof noticeEvents)[number];

export interface Notice {
	readonly event: NoticeEvent;
	/** Identifies what happened: notices of one event with the same subject are one, in any process. */
	readonly subject: string;
	/** Unix milliseconds until which the same may be noticed again. */
	readonly repeatsUntilMs: number;
	/** State that the notice reports. It is delivered only if it changes the state of this subject, over all processes. */
	readonly change?: { readonly subject: string; readonly state: string };
	/** Names of the webhooks that get it. Default: all that want the event. */
	readonly webhooks?: readonly string[];
	/** JSON for the receiver. Contains no secrets. */
	readonly data: Readonly<Record<string, unknown>>;
}

/** Takes a notice without waiting for its delivery. Never throws. */
export type Notify = (notice: Notice) => void;
