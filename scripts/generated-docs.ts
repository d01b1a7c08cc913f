import { renderCliReference } from '../src/cli/cli-reference.ts';
import { jsonSchema } from '../src/config/json-schema.ts';
import { configurationReference } from '../src/config/reference.ts';
import { describeErrors } from './describe-errors.ts';
import { describeGuardrails } from './describe-guardrails.ts';
import { describeMetrics } from './describe-metrics.ts';
import { describePackages } from './sbom.ts';

/** Pages generated from the code, by path. A test compares each with the committed file; `npm run docs` writes them. */
export const generatedDocs: readonly (readonly [path: string, generate: () => string | Promise<string>])[] = [
	['docs/reference/errors.md', describeErrors],
	['docs/reference/metrics.md', describeMetrics],
	['docs/reference/guardrail-measurements.md', describeGuardrails],
	['docs/reference/configuration.md', () => `${configurationReference()}\n`],
	['docs/reference/cli.md', renderCliReference],
	['docs/reference/sbom.cdx.json', describePackages],
	['config.schema.json', () => `${JSON.stringify(jsonSchema(), null, '\t')}\n`],
];
