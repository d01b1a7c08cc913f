import { adminFuzz } from './fuzz.contract.ts';

adminFuzz({ bodies: 200, bodiesWithSecret: 40, queries: 80, comparesState: false });
