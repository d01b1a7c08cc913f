const vendorPrefix = /^msg_/;

/** The answer's id as chat completions have them. */
export function completionId(messageId: unknown, requestId: string): string {
	return `chatcmpl-${typeof messageId === 'string' && messageId !== '' ? messageId.replace(vendorPrefix, '') : requestId}`;
}

/** Some vendors leave a call's id empty; a result could not name it. */
export function callId(id: unknown, completion: string, index: number): string {
	return typeof id === 'string' && id !== '' ? id : `call_${completion.slice('chatcmpl-'.length)}_${index}`;
}
