/** Protocol between a client program and `run.ts`: one line of JSON for each feature. */
const [dialect, model, features] = process.argv.slice(2);
export { dialect, model };

export const gatewayUrl = process.env.GATEWAY_URL;

const { createAccessTokenSource } = await import(process.env.TOLLGATE_CLIENT);
export const source = createAccessTokenSource({
	tokenEndpoint: process.env.GATEWAY_TOKEN_ENDPOINT,
	clientId: process.env.GATEWAY_CLIENT_ID,
	clientSecret: process.env.GATEWAY_CLIENT_SECRET,
});

/** Runs the test of one feature if it was requested. */
export async function feature(name, test) {
	if (!features.split(',').includes(name)) return;
	try {
		await test();
		console.log(`RESULT ${JSON.stringify({ feature: name, reason: null })}`);
	} catch (error) {
		console.log(`RESULT ${JSON.stringify({ feature: name, reason: `${error?.message ?? error}`.slice(0, 500) })}`);
	}
}

export function expectText(text, part) {
	if (!`${text}`.includes(part)) throw new Error(`expected ${JSON.stringify(part)} in ${JSON.stringify(text)}`);
}

/** Body of the newest request that a provider received. */
async function newestBody() {
	const response = await fetch(`${process.env.SIMULATOR_URL}/_simulator/requests?limit=1`);
	const { data } = await response.json();
	return data[0].body;
}

export async function expectSent(part) {
	expectText(await newestBody(), part);
}

/** Field of a request with the reasoning of an earlier turn, by vendor. */
export const reasoningField = model.startsWith('claude') ? '"signature":' : model.startsWith('gemini') ? 'thoughtSignature' : 'encrypted_content';

export const weather = { name: 'get_weather', description: 'The weather of a city', run: (city) => `21 degrees in ${city}` };
export const weatherSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
