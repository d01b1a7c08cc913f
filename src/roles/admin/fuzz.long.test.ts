import { adminFuzz } from './fuzz.contract.ts';

adminFuzz({ bodies: 1000, bodiesWithSecret: 1000, queries: 1000, comparesState: true });
