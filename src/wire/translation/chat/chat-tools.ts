import { viewOf } from '../../conversation/json-view.ts';
import { usesFunctions } from '../../dialects/chat/request-tools.ts';
import type { JsonObject } from '../../json/parse-body.ts';

/** The deprecated pair `functions` and `function_call`: its caller expects the old shape of answer too. */
export function speaksOfFunctions(request: JsonObject): boolean {
	return usesFunctions(viewOf(request));
}
