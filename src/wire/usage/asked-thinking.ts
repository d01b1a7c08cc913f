/** Whether a setting asks for thinking; undefined where it says nothing. @param off the value that turns it off. */
export function asksFor(setting: unknown, off: string | number): boolean | undefined {
	return typeof setting === 'string' || typeof setting === 'number' ? setting !== off : undefined;
}
