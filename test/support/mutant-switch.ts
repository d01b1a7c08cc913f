/** Set-up of a test file for `scripts/test-mutants.ts`: says which mutant is active, and notes which mutants the file reaches. */
import { afterEach, inject } from 'vitest';

declare module 'vitest' {
	interface ProvidedContext {
		/** The number of the active mutant; -1 for none. */
		activeMutant: number;
	}
	interface TaskMeta {
		/** Numbers of the mutants that the file's tests come past. */
		reachedMutants?: number[];
	}
}

const active = inject('activeMutant');
const reached = new Set<number>();

Object.assign(globalThis, {
	tollgateMutants: {
		is(id: number): boolean {
			reached.add(id);
			return id === active;
		},
	},
});

afterEach(({ task }) => {
	task.file.meta.reachedMutants = [...reached];
});
