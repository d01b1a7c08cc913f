import { clientDialects } from '../dialects/dialects.ts';
import { type Endpoint, inferenceEndpoint } from './endpoint.ts';

/** Vectors of texts. Those of two models cannot be compared, so a client's index must not mix them. */
export const embeddings: Endpoint = {
	...inferenceEndpoint('/v1/embeddings', clientDialects.embeddings),
	canStream: false,
	response: 'computed',
	failsOverTo: 'same_model',
};
