import { test } from 'vitest';
import { expectNoOverspending } from '../support/accounting-storm.ts';

test('worst case: the bill never exceeds the budget, and no reservation remains; 20 rounds', () => expectNoOverspending(20));
