/** Setup of a test file for `scripts/test-mutants.ts`: selects the active mutant, and records which mutants the file executes. */
import { afterEach, inject } from 'vitest';

declare module 'vitest' {
	interface ProvidedContext {
		/** Number of the active mutant; -1 for none. */
		activeMutant: number;
	}
	interface TaskMeta {
		/** Numbers of the mutants that the file's tests execute. */
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
