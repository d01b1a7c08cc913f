import { field, type Resource, readOnly } from './resource.ts';

export const webhook: Resource = {
	...readOnly,
	name: 'webhook',
	description: 'Webhooks of the configuration, and the log of their deliveries.',
	example: 'tollgate webhook list',
	path: '/webhooks',
	list: {
		columns: [
			['NAME', 'name'],
			['URL', 'url'],
			['EVENTS', 'events'],
		],
		filters: [],
	},
};

/** Shown by a command of `webhook`. */
export const deliveries: Resource = {
	...readOnly,
	name: 'deliveries',
	description: 'List deliveries, newest first.',
	example: 'tollgate webhook deliveries --webhook ops --state failed',
	path: '/webhooks/deliveries',
	list: {
		columns: [
			['TIME', 'time'],
			['EVENT', 'event'],
			['WEBHOOK', 'webhook'],
			['STATE', 'state'],
			['ATTEMPTS', 'attempts'],
			['STATUS', 'status'],
			['ERROR', 'error'],
			['NEXT ATTEMPT', 'next_attempt_at'],
			['ID', 'id'],
		],
		filters: [
			field('--webhook <name>', 'webhook', 'only this webhook'),
			field('--event <event>', 'event', 'only this event, such as budget.exceeded'),
			field('--state <state>', 'state', 'pending, delivered or failed'),
		],
		defaultRows: 100,
	},
};
