import { createSteeredMemory } from '../../../test/support/memory-admission-subject.ts';
import { admissionContract } from '../contracts/admission.contract.ts';

// About a million operations.
admissionContract('memory, for long', async () => createSteeredMemory(), { modelRuns: 33_000 });
