/** Header fields that are valid for one connection only (RFC 9110 section 7.6.1). They are never forwarded. */
export const connectionFields = ['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'] as const;
