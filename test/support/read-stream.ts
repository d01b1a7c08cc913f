export interface StreamRead {
	readonly text: string;
	/** True if the connection broke before the end of the body. */
	readonly isBroken: boolean;
}

/** Reads everything that arrives of a response, whether or not it ends correctly. */
export async function readStream(response: Response): Promise<StreamRead> {
	const decoder = new TextDecoder();
	let text = '';
	try {
		for await (const chunk of response.body as AsyncIterable<Uint8Array>) text += decoder.decode(chunk, { stream: true });
		return { text, isBroken: false };
	} catch {
		return { text, isBroken: true };
	}
}
