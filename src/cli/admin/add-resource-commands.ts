import { Argument, type Command, Option } from 'commander';
import { type AdminFlags, addressFlag, configFlag, integerWithin, jsonFlag } from '../commands/command-options.ts';
import type { RunTask } from '../environment.ts';
import { optionOf } from './fields.ts';
import type { Resource } from './resource.ts';
import { resources } from './resources.ts';
import { createRecord, deleteRecord, listRecords, type RecordFlags, setRecord, showRecord } from './run-resource.ts';

/** Adds `tollgate team list` and all other commands that are described as resources. */
export function addResourceCommands(program: Command, run: RunTask): void {
	for (const resource of resources) {
		const known = program.commands.find((command) => command.name() === resource.name);
		const group = known ?? program.command(resource.name).description(resource.description).addHelpText('after', exampleOf(resource));
		addVerbs(group, resource, run);
	}
}

function addVerbs(group: Command, resource: Resource, run: RunTask): void {
	const { list, views, create, set, delete: remove, fields } = resource;
	const add = (name: string, description: string, isDefault = false): Command =>
		group
			.command(name, { isDefault })
			.description(description)
			.addOption(addressFlag())
			.addOption(configFlag())
			.addHelpText('after', exampleOf(resource));
	const one = (name: string, description: string): Command =>
		add(name, description).addArgument(new Argument(`<${resource.argument}>`, 'id of the record'));
	if (list !== undefined) {
		const command = add('list', list.defaultRows === undefined ? 'List all.' : 'List newest first.', list.isDefault).addOption(jsonFlag());
		for (const filter of list.filters) command.addOption(optionOf(filter));
		command.addOption(
			new Option(
				'--limit <count>',
				list.defaultRows === undefined ? 'maximum number of entries' : `maximum number of entries; default: ${list.defaultRows}`,
			).argParser(integerWithin(1, 1_000_000)),
		);
		command.action((flags: RecordFlags) => run((environment) => listRecords(resource, flags, environment)));
	}
	for (const [name, view] of Object.entries(views)) {
		const command = one(name, view.description).addOption(jsonFlag());
		for (const filter of view.filters) command.addOption(optionOf(filter));
		command.action((id: string, flags: RecordFlags) => run((environment) => showRecord(resource, view, id, flags, environment)));
	}
	if (create !== undefined) {
		const command = add('create', create).addOption(jsonFlag());
		for (const field of fields) command.addOption(optionOf(field));
		command.action((flags: RecordFlags) => run((environment) => createRecord(resource, flags, environment)));
	}
	if (set !== undefined) {
		const command = one('set', set).addOption(jsonFlag());
		for (const field of fields) if (field.isFixed !== true) command.addOption(optionOf(field));
		command.action((id: string, flags: RecordFlags) => run((environment) => setRecord(resource, id, flags, environment)));
	}
	if (remove !== undefined) {
		one('delete', remove).action((id: string, flags: AdminFlags) => run((environment) => deleteRecord(resource, id, flags, environment)));
	}
}

function exampleOf({ example }: Resource): string {
	return `\nExample:\n  ${example}`;
}
