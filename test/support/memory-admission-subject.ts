import { type AdmissionSubject, contractStartMs } from '../../src/stores/contracts/admission.contract.ts';
import { createMemoryAdmission } from '../../src/stores/memory/memory-admission.ts';
import { ManualClock } from './manual-clock.ts';

export function createSteeredMemory(): AdmissionSubject {
	const clock = new ManualClock(contractStartMs);
	const store = createMemoryAdmission({ clock });
	return { stores: [store, store], setNow: (nowMs) => clock.jumpWallTo(nowMs), dispose: () => store.close() };
}
