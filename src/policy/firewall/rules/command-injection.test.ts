import { describe, expect, test } from 'vitest';
import { readQuery } from './canonical-text.ts';
import { unixCommandLine, windowsCommandLine } from './command-injection.ts';
import type { TextTest } from './signature.ts';

const isCommand = (shell: TextTest, value: string): boolean =>
	readQuery(`v=${encodeURIComponent(value)}`).some(({ unquoted }) => shell.test(unquoted));

describe('a command line of Unix', () => {
	test.each([
		'x;id',
		'x|cat /etc/passwd',
		"x;c'a't /tmp/x",
		'$(hostname -f)',
		'sudo -u root ls',
		'a&&tail -n 5 b',
		'x\nwhoami\n',
		'{cat,/etc/group}',
		'x;cat$IFS/tmp/x',
		'bash -c "rm -rf x"',
		'`/bin/sh`',
	])('%s', (value) => {
		expect(isCommand(unixCommandLine, value)).toBe(true);
	});

	test.each([
		'cat food; dog food',
		'hello; time he came',
		'python;ruby;perl',
		'Times & Schedule',
		'Tom | find the best deals',
		'{ users(first: 5) { id } }',
		'`git` is not `find`',
		'curl/8.14.1',
		'bash -c "echo test"',
		'record time (less than 1 minute!)',
		';environment',
	])('not %s', (value) => {
		expect(isCommand(unixCommandLine, value)).toBe(false);
	});
});

describe('a command line of Windows', () => {
	test.each(['x&dir c:\\', 'x|net user', 'a && ipconfig /all', 'cmd /c whoami', 'x&type boot.ini', 'w^hoami /priv'])('%s', (value) => {
		expect(isCommand(windowsCommandLine, value)).toBe(true);
	});

	test.each(['powershell sort by name', 'work; where the stone was stolen', 'a | type of shoe', 'find & print'])('not %s', (value) => {
		expect(isCommand(windowsCommandLine, value)).toBe(false);
	});
});
