export { AccessTokenError, type AccessTokenErrorCode } from './access-token-error.ts';
export { type AccessTokenSource, type AccessTokenSourceOptions, createAccessTokenSource } from './access-token-source.ts';
