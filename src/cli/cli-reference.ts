import type { Command } from 'commander';
import { createProgram } from './program.ts';

/** Renders the page `docs/reference/cli.md`: the `--help` output of every command, in the order of the program's own help. */
export function renderCliReference(): string {
	let text = '';
	const program = createProgram({
		version: '',
		run: () => Promise.resolve(),
		writeOut: (part) => (text += part),
		writeErr: (part) => (text += part),
	});
	const sections = commandsOf(program).map((command) => {
		text = '';
		command.outputHelp();
		return `## ${pathOf(command)}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
	});
	return `# Command line\n\nGenerated from the program's own definitions (\`npm run docs\`); what \`--help\` prints for each command.\n\n${sections.join('\n')}`;
}

function commandsOf(command: Command): Command[] {
	return [command, ...command.commands.flatMap(commandsOf)];
}

function pathOf(command: Command): string {
	return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
