/** A comment: keeps an idle stream alive and means nothing to its reader. */
export const heartbeat = Buffer.from(': keepalive\n\n');
