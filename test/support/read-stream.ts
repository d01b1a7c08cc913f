export interface StreamRead {
	readonly text: string;
	/** The connection broke before the body was over. */
	readonly isBroken: boolean;
}

/** All that arrives of an answer, whether or not it ends well. */
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
