import { expect, it } from 'vitest';
import { DefaultOutputCaps } from './default-output-caps.ts';

const caps = new DefaultOutputCaps({
	default: 4000,
	models: { 'gpt-4o': 500, 'o3-mini': 800 },
	teams: { red: { default: 300, models: { 'o3-mini': 100 } }, blue: { models: { 'gpt-4o': 50 } } },
});

it.each([
	['red', 'o3-mini', 'o3-mini', 100, 'the team’s for the model'],
	['red', 'gpt-4o', 'gpt-4o', 300, 'the team’s'],
	['blue', 'gpt-4o', 'gpt-4o', 50, 'the team’s for the model, without one of its own for all'],
	['blue', 'o3-mini', 'o3-mini', 800, 'the model’s'],
	['green', 'our-deployment', 'gpt-4o', 500, 'that of the vendor’s name of the model'],
	['green', 'gpt-5', 'gpt-5', 4000, 'the general one'],
])('a request of %s to %s (%s) is capped at %d tokens: %s', (team, model, knownAs, expected) => {
	expect(caps.capOf(team, model, knownAs)).toBe(expected);
});

it('nothing is capped where nothing is set', () => {
	expect(new DefaultOutputCaps().capOf('red', 'gpt-4o', 'gpt-4o')).toBeUndefined();
	expect(new DefaultOutputCaps({ teams: { red: { models: {} } } }).capOf('red', 'gpt-4o', 'gpt-4o')).toBeUndefined();
});
