import { expect, it } from 'vitest';
import { surchargedField } from './cost.ts';

const surcharges = { service_tier: new Set(['auto', 'default']), speed: new Set(['standard']) };

it.each([
	[{}, undefined],
	[{ service_tier: 'auto', speed: 'standard' }, undefined],
	[{ service_tier: 'priority' }, 'service_tier'],
	[{ service_tier: 'default', speed: 'fast' }, 'speed'],
	[{ service_tier: null, speed: 7 }, undefined],
	[{ other: 'priority' }, undefined],
])('%j asks for what costs more in %s', (request, expected) => {
	expect(surchargedField(request, surcharges)).toBe(expected);
});
